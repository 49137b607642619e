/**
 * A map of one basemap and of vectors, at `/map/#code={code}&vector={code}&token={token}`, with `version={version}` for a version
 * other than the default. Browsers do not send the part after `#`, so no log contains the token.
 */
import { boundsOf, layersOf, sourceOf } from './layers.js'
import { Map as MapLibre, NavigationControl, Popup, ScaleControl } from './maplibre-gl.mjs'
import { element, showPanel } from './panel.js'
import { t } from './texts.js'

/** Radius in pixels around a click in which features are searched, and the maximum number of them that is shown. */
const REACH = 4
const MOST_SHOWN = 10

addEventListener('hashchange', () => location.reload())
try {
  await show()
} catch (error) {
  tell(error.message)
}

async function show() {
  const asked = new URLSearchParams(location.hash.slice(1))
  const [code, version, token] = ['code', 'version', 'token'].map((name) => asked.get(name))
  const vectors = asked.getAll('vector')
  if (!token) throw new Error(t.how)
  const panel = showPanel(asked, (next) => {
    // The map has since written its position into the address. It keeps that position unless this is the first layer, which sets its own.
    const view = new URLSearchParams(location.hash.slice(1)).get('view')
    if (view === null || (!code && vectors.length === 0)) next.delete('view')
    else next.set('view', view)
    location.hash = String(next).replaceAll('%2F', '/')
  })
  panel.catch((error) => tell(error.message))
  const sets = await Promise.all([
    ...(code ? [fetchSet('tiles', [code, version].filter(Boolean), token)] : []),
    ...vectors.map((vector) => fetchSet('vectors', [vector], token)),
  ])
  if (sets.length === 0) tell(t.choose)
  else document.title = sets.map(({ name, code }) => name ?? code).join(', ')
  draw(sets, vectors.length)
}

/** @param count number of vectors, which are the last sets and decide where the map begins */
function draw(sets, count) {
  const layers = []
  for (const set of sets) {
    const first = layers.filter(({ type }) => type === 'fill').length
    layers.push(...layersOf(set, set.source, first))
    if (layersOf(set, set.source, 0).length === 0) tell(t.noLayers(set.code))
  }
  const map = new MapLibre({
    container: 'map',
    // In addition to the parameters in the address.
    hash: 'view',
    ...startOf(count > 0 ? sets.slice(-count) : sets),
    style: {
      version: 8,
      sources: Object.fromEntries(sets.map((set) => [set.source, sourceOf(set)])),
      layers,
    },
  })
  if (sets.length === 1 && sets[0].geojson === undefined) zoomToTiles(map, sets[0])
  map.addControl(new NavigationControl())
  map.addControl(new ScaleControl())
  map.on('error', ({ error }) => tell(error.message))
  map.on('click', (event) => showFeatures(map, event))
}

/** Returns the common bounds of several sets; nothing if one of them has no bounds. */
function startOf(sets) {
  const [{ geojson, center, zoom }, ...others] = sets.length === 0 ? [{}] : sets
  if (geojson !== undefined && others.length === 0) return center === undefined ? {} : { center, zoom }
  const all = sets.map((set) => boundsOf(set).bounds)
  if (all.length === 0 || all.includes(undefined)) return {}
  const edge = (i, most) => most(...all.map((bounds) => bounds[i]))
  return { bounds: [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max), edge(3, Math.max)] }
}

/** Zooms in if the bounds fit the window at a zoom below the first one of the set, at which MapLibre would draw nothing. */
function zoomToTiles(map, { minzoom, tileSize = 512, center }) {
  // MapLibre counts zooms in tiles of 512 pixels.
  const least = minzoom + Math.log2(tileSize / 512)
  if (center !== undefined && map.getZoom() < least) map.jumpTo({ center: center.slice(0, 2), zoom: least })
}

async function fetchSet(kind, names, token) {
  const [code] = names
  const path = names.map(encodeURIComponent).join('/')
  const answer = await fetch(`../${kind}/${path}/tilejson.json?token=${encodeURIComponent(token)}`)
  const set = await answer.json()
  // While a vector has no tiles, its style names the GeoJSON that draws it, or the reason why nothing does.
  if (!answer.ok && kind === 'vectors') return fetchWhole(code, token)
  if (!answer.ok) throw new Error(t.notShown(code, set.error))
  if (set.tile_matrix_set !== undefined) throw new Error(t.otherGrid(code, set.crs))
  return { ...set, code, source: `${kind} ${code}` }
}

async function fetchWhole(code, token) {
  const answer = await fetch(`../vectors/${encodeURIComponent(code)}/style.json?token=${encodeURIComponent(token)}`)
  const style = await answer.json()
  if (!answer.ok) throw new Error(t.notShown(code, style.error))
  const { center, zoom, name } = style
  return { name, code, center, zoom, geojson: style.sources.data.data, source: `vectors ${code}` }
}

/** Shows the attributes of the vector features at a click. */
function showFeatures(map, { point: { x, y }, lngLat }) {
  const around = [
    [x - REACH, y - REACH],
    [x + REACH, y + REACH],
  ]
  const found = map.queryRenderedFeatures(around).slice(0, MOST_SHOWN)
  if (found.length === 0) return
  const content = element('div')
  for (const { sourceLayer, source, properties } of found) {
    const list = element('dl')
    for (const [name, value] of Object.entries(properties))
      list.append(element('dt', name), element('dd', String(value)))
    content.append(element('h2', sourceLayer ?? source), list)
  }
  new Popup({ maxWidth: '24rem' }).setLngLat(lngLat).setDOMContent(content).addTo(map)
}

function tell(text) {
  const message = document.getElementById('message')
  message.textContent = text
  message.hidden = false
}
