/**
 * A map of one basemap, at `/map/#code={code}&token={token}`, with `version={version}` where another one than the default is wanted. What
 * stands behind the # stays in the browser: no log has the token from this page's own address.
 */
import { Map as MapLibre, NavigationControl, ScaleControl } from './maplibre-gl.mjs'

const HOW = 'The address of a map is /map/#code=CODE&token=TOKEN: the code of a basemap, and a token that may read it.'

/** Beside one another on light ground. */
const COLOURS = ['#178c9c', '#c2571a', '#5f3dc4', '#2b8a3e', '#c2255c', '#1864ab', '#846a00', '#862e9c']

addEventListener('hashchange', () => location.reload())
try {
  await show()
} catch (error) {
  tell(error.message)
}

async function show() {
  const asked = new URLSearchParams(location.hash.slice(1))
  const [code, version, token] = ['code', 'version', 'token'].map((name) => asked.get(name))
  if (!code || !token) throw new Error(HOW)
  const set = await fetchTileJson([code, version].filter(Boolean), token)
  document.title = set.name ?? code
  if (set.tile_matrix_set !== undefined)
    throw new Error(
      `This page draws Web Mercator alone, and the tiles of ${code} lie in ${set.crs}; WMTS clients draw them.`,
    )
  // Across the antimeridian (west above east) a source's bounds would let no tile through.
  const bounds = set.bounds?.[0] < set.bounds?.[2] ? { bounds: set.bounds } : {}
  const { tiles, minzoom, maxzoom, attribution, tileSize, encoding } = set
  const source = { tiles, minzoom, maxzoom, attribution, ...bounds }
  const map = new MapLibre({
    container: 'map',
    // Beside what stands there already.
    hash: 'view',
    ...bounds,
    style: {
      version: 8,
      sources: { set: { ...source, ...kindOf(set, { tileSize, encoding }) } },
      layers: layersOf(set),
    },
  })
  zoomToTiles(map, set)
  map.addControl(new NavigationControl())
  map.addControl(new ScaleControl())
  map.on('error', ({ error }) => tell(error.message))
  if (layersOf(set).length === 0)
    tell(`The metadata of ${code} names no vector layers (vector_layers), so this page cannot draw its tiles.`)
}

/** Bounds that fit into the window at a zoom above the set's first one would show an empty map: MapLibre draws no source there. */
function zoomToTiles(map, { minzoom, tileSize, center }) {
  // MapLibre counts zooms in tiles of 512 pixels.
  const least = minzoom + Math.log2(tileSize / 512)
  if (map.getZoom() < least) map.jumpTo({ center: center.slice(0, 2), zoom: least })
}

async function fetchTileJson(names, token) {
  const path = names.map(encodeURIComponent).join('/')
  const answer = await fetch(`../tiles/${path}/tilejson.json?token=${encodeURIComponent(token)}`)
  const body = await answer.json()
  if (!answer.ok) throw new Error(`The map of ${names[0]} cannot be shown: ${body.error}`)
  return body
}

function isTerrain({ encoding }) {
  return encoding === 'terrarium' || encoding === 'mapbox'
}

function kindOf(set, { tileSize, encoding }) {
  if (set.format === 'pbf') return { type: 'vector' }
  return isTerrain(set) ? { type: 'raster-dem', tileSize, encoding } : { type: 'raster', tileSize }
}

function layersOf(set) {
  if (set.format === 'pbf') return (set.vector_layers ?? []).flatMap(layersOfVector)
  return [{ id: 'set', source: 'set', type: isTerrain(set) ? 'hillshade' : 'raster' }]
}

function layersOfVector({ id }, i) {
  const colour = COLOURS[i % COLOURS.length]
  const layer = (type, geometry, paint) => ({
    id: `${id} ${type}`,
    type,
    source: 'set',
    'source-layer': id,
    filter: ['==', ['geometry-type'], geometry],
    paint,
  })
  return [
    layer('fill', 'Polygon', { 'fill-color': colour, 'fill-opacity': 0.25, 'fill-outline-color': colour }),
    layer('line', 'LineString', { 'line-color': colour }),
    layer('circle', 'Point', { 'circle-color': colour, 'circle-radius': 3 }),
  ]
}

function tell(text) {
  const message = document.getElementById('message')
  message.textContent = text
  message.hidden = false
}
