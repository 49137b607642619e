import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { columnsOf } from '../../map/geographic.js'

export const CLIENTS = ['MapLibre', 'Leaflet', 'OpenLayers', 'QGIS', 'ArcGIS', 'curl'] as const
export type Client = (typeof CLIENTS)[number]

/** Where the reader puts a token. */
export const TOKEN_PLACE = 'YOUR_TOKEN'

interface Described {
  readonly code: string
  readonly name: string
  /** the basemap's own address with {z}, {x} and {y}, of `current` */
  readonly template: string
  /** what is served there; the zooms and the size go into the snippets */
  readonly version: BasemapVersion
}

/** What is pasted into a client so that it shows the basemap. Vector tiles are drawn by those that can. */
export function snippet(client: Client, described: Described): string {
  const address = revised(described)
  const url = `${address}&token=${TOKEN_PLACE}`
  const { min_zoom: minZoom, max_zoom: maxZoom, tile_size: tileSize, format } = described.version
  const vector = format === 'pbf'
  if (columnsOf(described.version) === 2 && client !== 'curl') return geographic(client, described, url)
  switch (client) {
    case 'MapLibre':
      return vector ? maplibreVector(described) : maplibreRaster(described, url)
    case 'Leaflet':
      return vector
        ? `// with the plugin leaflet.vectorgrid\nL.vectorGrid.protobuf(${quoted(url)}, {\n  minZoom: ${minZoom}, maxNativeZoom: ${maxZoom}\n}).addTo(map)`
        : `L.tileLayer(${quoted(url)}, {\n  minZoom: ${minZoom}, maxNativeZoom: ${maxZoom}, tileSize: ${tileSize}${tileSize === 512 ? ', zoomOffset: -1' : ''}\n}).addTo(map)`
    case 'OpenLayers':
      return vector
        ? `new VectorTileLayer({ source: new VectorTileSource({\n  format: new MVT(), url: ${quoted(url)}, minZoom: ${minZoom}, maxZoom: ${maxZoom}\n}) })`
        : `new TileLayer({ source: new XYZ({\n  url: ${quoted(url)}, minZoom: ${minZoom}, maxZoom: ${maxZoom}, tileSize: ${tileSize}\n}) })`
    case 'QGIS':
      return vector
        ? `Layer → Add Layer → Add Vector Tile Layer → New Generic Connection\nURL: ${url}\nMin. zoom: ${minZoom}   Max. zoom: ${maxZoom}`
        : `Layer → Add Layer → Add XYZ Layer → New\nURL: ${url}\nMin. zoom: ${minZoom}   Max. zoom: ${maxZoom}   Tile resolution: ${tileSize === 512 ? 'High (512×512)' : 'Standard (256×256)'}`
    case 'ArcGIS':
      return vector
        ? `ArcGIS Pro shows vector tiles as vector tile packages or ArcGIS services only; use MapLibre or QGIS for:\n${url}`
        : `ArcGIS Online: Add → Add layer from URL → Tile layer\n${arcgis(url)}`
    case 'curl':
      return `curl -fsS -H 'X-Access-Token: ${TOKEN_PLACE}' -o tile.${format} \\\n  '${address.replace('{z}', String(minZoom)).replace('{x}', '0').replace('{y}', '0')}'`
  }
}

/** Longitude and latitude: those who know Web Mercator alone would show the Americas where Africa lies. */
function geographic(client: Exclude<Client, 'curl'>, { code, template, version }: Described, url: string): string {
  const { min_zoom: minZoom, max_zoom: maxZoom, tile_size: tileSize, format } = version
  const wmts = `${template.slice(0, template.indexOf('/tiles/'))}/wmts?only=${encodeURIComponent(code)}&token=${TOKEN_PLACE}`
  const degrees = 180 / tileSize
  switch (client) {
    case 'MapLibre':
      return `// MapLibre takes all tiles for Web Mercator; these lie in ${version.crs}: use OpenLayers, Leaflet or QGIS for\n// ${url}`
    case 'Leaflet':
      return format === 'pbf'
        ? `// Leaflet has no plugin for vector tiles in ${version.crs}; use OpenLayers for\n// ${url}`
        : `// the map: L.map('map', { crs: L.CRS.EPSG4326 })\nL.tileLayer(${quoted(url)}, {\n  minZoom: ${minZoom}, maxNativeZoom: ${maxZoom}, tileSize: ${tileSize}${tileSize === 512 ? ', zoomOffset: -1' : ''}\n}).addTo(map)`
    case 'OpenLayers':
      return format === 'pbf'
        ? `new VectorTileLayer({ source: new VectorTileSource({\n  format: new MVT(), url: ${quoted(url)}, projection: 'EPSG:4326',\n  tileGrid: createXYZ({ extent: [-180, -90, 180, 90], maxResolution: 180 / 512, tileSize: 512, minZoom: ${minZoom}, maxZoom: ${maxZoom} })\n}) })`
        : `new TileLayer({ source: new XYZ({\n  url: ${quoted(url)}, projection: 'EPSG:4326',\n  minZoom: ${minZoom}, maxZoom: ${maxZoom}, tileSize: ${tileSize}, maxResolution: ${degrees}\n}) })`
    case 'QGIS':
      return `Layer → Add Layer → Add WMS/WMTS Layer → New\nURL: ${wmts}\nThen Connect, and the layer ${code}`
    case 'ArcGIS':
      return `Insert → Connections → New WMTS Server\n${wmts}\nThe layer is ${code}`
  }
}

function maplibreRaster({ code, version }: Described, url: string): string {
  return `map.addSource(${quoted(code)}, {
  type: 'raster', tiles: [${quoted(url)}],
  minzoom: ${version.min_zoom}, maxzoom: ${version.max_zoom}, tileSize: ${version.tile_size}
})
map.addLayer({ id: ${quoted(code)}, type: 'raster', source: ${quoted(code)} })`
}

/** The address of the content that is shown now, by version and revision: caches keep tiles for a year, and must not mix two of them. */
function revised({ template, version: { version, revision } }: Described): string {
  return `${template.replace('/current/{z}', () => `/${encodeURIComponent(version)}/{z}`)}?v=${revision}`
}

/** The layers of vector tiles are listed in their TileJSON, which MapLibre reads by itself. It names version and revision anew each time. */
function maplibreVector({ code, template }: Described): string {
  const tileJson = `${template.slice(0, template.indexOf('/{z}'))}/tilejson.json?token=${TOKEN_PLACE}`
  return `map.addSource(${quoted(code)}, { type: 'vector', url: ${quoted(tileJson)} })`
}

/** ArcGIS calls the three parts level, col and row. */
function arcgis(url: string): string {
  return url.replace('{z}', '{level}').replace('{x}', '{col}').replace('{y}', '{row}')
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
