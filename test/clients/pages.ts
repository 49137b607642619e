import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, extname, join, normalize } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'

/** A map library: the directory of its files, and the page that uses it. */
export interface Library {
  /** directory of the files that a page loads */
  readonly files: string
  /**
   * Markup. Its script defines `draw(spec)`, which returns the positions of the cities in the window once everything is drawn, and
   * `discard()`, which removes the map.
   */
  readonly page: string
}

/** Returns the directory of an installed package. */
export function packageDirectory(name: string, from: string = import.meta.url): string {
  return dirname(createRequire(from).resolve(`${name}/package.json`))
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
}

/** Timeout in ms of a page that hangs: a machine with ten times as many processes as cores needs more than a minute for the largest one. */
const WAIT_MS = 150_000

/** Size of every map: the world is as wide as the window. */
export const WINDOW = { width: 1024, height: 512 }

export interface ClientPage {
  readonly page: Page
  /** runs the page's `draw`; throws if the page reports an error */
  draw<T = Record<string, [number, number]>>(spec: object): Promise<T>
  picture(): Promise<Buffer>
}

/** Debian's Chromium with pages of another origin than the gateway's, like the pages of a web developer. */
export function useClientPages(libraries: Readonly<Record<string, Library>>): (library: string) => Promise<ClientPage> {
  const site = createServer((request, response) => void answer(libraries, request, response))
  let browser: Browser | undefined
  let origin: string
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    // Another name for this machine makes another origin.
    origin = `http://localhost:${(site.address() as { port: number }).port}`
    const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', ...quiet] })
  })
  afterAll(async () => {
    await browser?.close()
    await new Promise((resolve) => site.close(resolve))
  })
  return async (library) => {
    const page = await (browser as Browser).newPage({ viewport: WINDOW })
    page.setDefaultTimeout(WAIT_MS)
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(`${origin}/${library}/`)
    return {
      page,
      draw: async <T>(spec: object) => {
        const places = await page.evaluate<T>(`window.discard?.(), draw(${JSON.stringify(spec)})`)
        expect(problems).toEqual([])
        return places
      },
      picture: () => page.screenshot(),
    }
  }
}

async function answer(
  libraries: Readonly<Record<string, Library>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, name = '', ...rest] = new URL(request.url ?? '/', 'http://site').pathname.split('/')
  const library = libraries[name]
  const file = normalize(`/${rest.join('/')}`)
  const body =
    library === undefined
      ? null
      : file === '/'
        ? library.page
        : await readFile(join(library.files, file)).catch(() => null)
  // Browsers request an icon.
  if (body === null) return void response.writeHead(name === 'favicon.ico' ? 204 : 404).end()
  response.setHeader('Content-Type', TYPES[file === '/' ? '.html' : extname(file)] ?? 'application/octet-stream')
  response.end(body)
}

/** Markup before the script of a page. */
export const PAGE =
  '<!doctype html><meta charset="utf-8"><div id="map" style="position:fixed;inset:0;background:#fff"></div>'

const MAPBOX_STYLES = readFileSync(createRequire(import.meta.url).resolve('ol-mapbox-style'), 'utf8')

/**
 * `grid`: EPSG:3857, EPSG:4326 or EPSG:4490. `by`: wmts, ogc, xyz, vector, or style, which ol-mapbox-style reads; vector-tiles and features of a
 * catalogued vector.
 */
export const OPENLAYERS: Library = {
  files: join(packageDirectory('ol'), 'dist'),
  page: `${PAGE}<script src="ol.js"></script><script>${MAPBOX_STYLES}</script><script>
const WORLD = [-180, -90, 180, 90]
// OpenLayers does not know CGCS2000; its datum equals WGS 84 within a metre.
ol.proj.addProjection(new ol.proj.Projection({
  code: 'EPSG:4490', units: 'degrees', axisOrientation: 'neu', global: true, extent: WORLD, worldExtent: WORLD,
  metersPerUnit: Math.PI * 6378137 / 180,
}))
const same = (coordinates) => coordinates
ol.proj.addCoordinateTransforms('EPSG:4326', 'EPSG:4490', same, same)

const layers = {
  async wmts({ base, token, code }) {
    const text = await (await fetch(base + '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&token=' + token)).text()
    const capabilities = new ol.format.WMTSCapabilities().read(text)
    const options = ol.source.WMTS.optionsFromCapabilities(capabilities, { layer: code })
    return new ol.layer.Tile({ source: new ol.source.WMTS(options) })
  },
  async tianditu({ base, token, code, set }) {
    const url = base + '/tianditu/' + code + '_' + set + '/wmts?REQUEST=GetCapabilities&tk=' + token
    const capabilities = new ol.format.WMTSCapabilities().read(await (await fetch(url)).text())
    const options = ol.source.WMTS.optionsFromCapabilities(capabilities, { layer: code, matrixSet: set })
    return new ol.layer.Tile({ source: new ol.source.WMTS(options) })
  },
  async arcgis({ base, token, code, grid }) {
    const service = base + '/arcgis/rest/services/' + code + '/MapServer'
    const { tileInfo, fullExtent } = await (await fetch(service + '?f=json&token=' + token)).json()
    const { origin, lods, rows, cols } = tileInfo
    const tileGrid = new ol.tilegrid.TileGrid({
      origin: [origin.x, origin.y], resolutions: lods.map((lod) => lod.resolution), tileSize: [cols, rows],
      extent: [fullExtent.xmin, fullExtent.ymin, fullExtent.xmax, fullExtent.ymax],
    })
    const url = service + '/tile/{z}/{y}/{x}?token=' + token
    return new ol.layer.Tile({ source: new ol.source.XYZ({ url, projection: grid, tileGrid }) })
  },
  async ogc({ base, token, code, set }) {
    const url = base + '/ogc/collections/' + code + '/map/tiles/' + set + '?token=' + token
    const source = new ol.source.OGCMapTile({ url })
    await new Promise((resolve) => source.getState() === 'ready' ? resolve() : source.once('change', resolve))
    return new ol.layer.Tile({ source })
  },
  async xyz({ base, token, code, grid }) {
    const url = base + '/tiles/' + code + '/current/{z}/{x}/{y}.png?token=' + token
    const geographic = grid === 'EPSG:3857' ? {} : { maxResolution: 180 / 256 }
    return new ol.layer.Tile({ source: new ol.source.XYZ({ url, projection: grid, maxZoom: 2, ...geographic }) })
  },
  async style({ base, token, code }) {
    const layer = new ol.layer.Group()
    await olms.apply(layer, base + '/styles/' + code + '/style.json?token=' + token)
    return layer
  },
  async 'vector-tiles'({ base, token, code, colours }) {
    const url = base + '/vectors/' + code + '/tilejson.json?token=' + token
    const { tiles, minzoom: minZoom, maxzoom: maxZoom } = await (await fetch(url)).json()
    const source = new ol.source.VectorTile({ urls: tiles, format: new ol.format.MVT(), minZoom, maxZoom })
    return new ol.layer.VectorTile({ source, style: filled(colours) })
  },
  async features({ base, token, code, grid, colours }) {
    const items = base + '/ogc/collections/' + code + '/items?limit=1000&token=' + token + '&bbox='
    const source = new ol.source.Vector({
      format: new ol.format.GeoJSON(), strategy: ol.loadingstrategy.bbox,
      // A view may be larger than the world.
      url: (extent) => items + ol.extent.getIntersection(ol.proj.transformExtent(extent, grid, 'EPSG:4326'), WORLD).join(','),
    })
    return new ol.layer.Vector({ source, style: filled(colours) })
  },
  async vector({ base, token, code, colours }) {
    const url = base + '/tiles/' + code + '/current/{z}/{x}/{y}.pbf?token=' + token
    return new ol.layer.VectorTile({
      source: new ol.source.VectorTile({ url, format: new ol.format.MVT(), maxZoom: 2 }),
      style: filled(colours),
    })
  },
}
const filled = (colours) => (feature) =>
  new ol.style.Style({ fill: new ol.style.Fill({ color: colours[feature.get('name')] }) })

async function draw(spec) {
  const layer = await layers[spec.by](spec)
  const mercator = spec.grid === 'EPSG:3857'
  const view = new ol.View({
    projection: spec.grid, center: mercator ? ol.proj.fromLonLat([0, 20]) : [0, 0],
    resolution: (mercator ? 2 * Math.PI * 6378137 : 360) / ${WINDOW.width}, constrainResolution: false, multiWorld: true,
  })
  const map = new ol.Map({ target: 'map', controls: [], layers: [layer], view })
  window.discard = () => map.setTarget(undefined)
  await new Promise((resolve) => map.once('rendercomplete', resolve))
  return Object.fromEntries(Object.entries(spec.cities).map(([name, { lon, lat }]) =>
    [name, map.getPixelFromCoordinate(ol.proj.transform([lon, lat], 'EPSG:4326', spec.grid))]))
}
</script>`,
}

const ESRI_LEAFLET = readFileSync(createRequire(import.meta.url).resolve('esri-leaflet'), 'utf8')

/** `grid`: EPSG:3857 or EPSG:4326. `by`: xyz, tianditu (its addresses, without a list of layers), or esri, which esri-leaflet reads. */
export const LEAFLET: Library = {
  files: join(packageDirectory('leaflet'), 'dist'),
  page: `${PAGE}<link rel="stylesheet" href="leaflet.css"><script src="leaflet.js"></script><script>${ESRI_LEAFLET}</script><script>
const layers = {
  xyz: ({ base, token, code }) =>
    L.tileLayer(base + '/tiles/' + code + '/current/{z}/{x}/{y}.png?token=' + token, { noWrap: true }),
  tianditu({ base, token, code, set }) {
    const tile = '&STYLE=default&FORMAT=tiles&TILEMATRIX={z}&TILEROW={y}&TILECOL={x}&tk=' + token
    const service = base + '/tianditu/' + code + '_' + set + '/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0'
    const options = { noWrap: true, minZoom: 1, zoomOffset: set === 'c' ? 1 : 0 }
    return L.tileLayer(service + '&LAYER=' + code + '&TILEMATRIXSET=' + set + tile, options)
  },
  esri: ({ base, token, code }) =>
    L.esri.tiledMapLayer({ url: base + '/arcgis/rest/services/' + code + '/MapServer', token, noWrap: true }),
}
async function draw(spec) {
  const { by = 'xyz', grid, cities } = spec
  const mercator = grid === 'EPSG:3857'
  const map = L.map('map', {
    crs: mercator ? L.CRS.EPSG3857 : L.CRS.EPSG4326, zoomControl: false, attributionControl: false, fadeAnimation: false,
  })
  window.discard = () => map.remove()
  const layer = layers[by](spec)
  const loaded = new Promise((resolve) => layer.once('load', resolve))
  map.setView([mercator ? 20 : 0, 0], mercator ? 2 : 1)
  layer.addTo(map)
  await loaded
  return Object.fromEntries(Object.entries(cities).map(([name, { lon, lat }]) => {
    const { x, y } = map.latLngToContainerPoint([lat, lon])
    return [name, [x, y]]
  }))
}
</script>`,
}

/**
 * By TileJSON, as a source of kind `by`: raster, vector or raster-dem. `draw` of the last answers the heights at `cities`. `room`: vectors, if the
 * tiles are those of a catalogued vector.
 */
export const MAPLIBRE: Library = {
  files: join(packageDirectory('maplibre-gl'), 'dist'),
  page: `${PAGE}<link rel="stylesheet" href="maplibre-gl.css"><script type="module">
import * as maplibregl from './maplibre-gl.mjs'
maplibregl.setWorkerUrl('./maplibre-gl-worker.mjs')
const layers = {
  raster: () => ({ type: 'raster', paint: { 'raster-fade-duration': 0 } }),
  vector: ({ colours }) => ({
    type: 'fill', 'source-layer': 'cities',
    paint: { 'fill-antialias': false, 'fill-color': ['match', ['get', 'name'], ...Object.entries(colours).flat(), '#fff'] },
  }),
  'raster-dem': () => ({ type: 'hillshade' }),
}
window.draw = async (spec) => {
  const { base, token, code, by, cities, room = 'tiles', center = [0, 20], zoom = 1 } = spec
  const url = base + '/' + room + '/' + code + '/tilejson.json?token=' + token
  const terrain = by === 'raster-dem'
  window.map = new maplibregl.Map({
    container: 'map', center, zoom, fadeDuration: 0, attributionControl: false,
    style: {
      version: 8,
      sources: { it: { type: by, url, ...(by === 'raster' && { tileSize: 256 }) } },
      layers: [{ id: 'it', source: 'it', ...layers[by](spec) }],
      ...(terrain && { terrain: { source: 'it' } }),
    },
  })
  window.discard = () => map.remove()
  await map.once('idle')
  return Object.fromEntries(Object.entries(cities).map(([name, { lon, lat }]) => {
    const { x, y } = map.project([lon, lat])
    return [name, terrain ? map.queryTerrainElevation([lon, lat]) : [x, y]]
  }))
}
</script>`,
}
