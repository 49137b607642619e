import type { AdminVector } from '@gateway/contracts/vector.js'
import { quoted, TOKEN_PLACE } from '../basemaps/snippets.js'

export const VECTOR_CLIENTS = ['MapLibre', 'OpenLayers', 'QGIS', 'ArcGIS', 'GDAL', 'curl'] as const
export type VectorClient = (typeof VECTOR_CLIENTS)[number]

const SERVICES = ['download', 'geojson', 'gpkg', 'fgb', 'zip', 'csv', 'tilejson', 'tiles', 'items', 'ogc'] as const
export type VectorService = (typeof SERVICES)[number]

/** The URLs at which a vector is served, by service. Those of tiles only if there are some. */
export function vectorUrls({ code, download_url: download, tiles }: AdminVector) {
  const base = baseOf(download)
  const at = encodeURIComponent(code)
  const file = `${base}/vectors/${at}`
  const urls: Readonly<Record<VectorService, string | null>> = {
    download,
    geojson: `${file}.geojson`,
    gpkg: `${file}.gpkg`,
    fgb: `${file}.fgb`,
    zip: `${file}.zip`,
    // People open it in a spreadsheet.
    csv: `${file}.csv?guard=formulas`,
    tilejson: tiles.built_at === null ? null : `${file}/tilejson.json`,
    tiles: tiles.built_at === null ? null : `${file}/tiles/{z}/{x}/{y}.mvt`,
    items: `${base}/ogc/collections/${at}/items`,
    ogc: `${base}/ogc`,
  }
  return SERVICES.flatMap((service) => {
    const url = urls[service]
    return url === null ? [] : [[service, url] as const]
  })
}

/**
 * Returns the text that a user pastes into a client so that it shows the vector.
 * @param layers of its tiles; empty: it has none
 */
export function vectorSnippet(client: VectorClient, vector: AdminVector, layers: readonly string[]): string {
  const { code, tiles, download_url: download } = vector
  const base = baseOf(download)
  const at = encodeURIComponent(code)
  const token = `token=${TOKEN_PLACE}`
  const hasTiles = tiles.built_at !== null
  const tileJson = `${base}/vectors/${at}/tilejson.json?${token}`
  const template = `${base}/vectors/${at}/tiles/{z}/{x}/{y}.mvt?${token}`
  const [first, last] = [tiles.min_zoom ?? 0, tiles.max_zoom ?? 0]
  const ogc = `${base}/ogc?${token}`
  switch (client) {
    case 'MapLibre':
      return hasTiles
        ? maplibre(code, tileJson, layers)
        : `map.addSource(${quoted(code)}, { type: 'geojson', data: ${quoted(`${base}/vectors/${at}.geojson?${token}`)} })`
    case 'OpenLayers':
      return `${hasTiles ? `// vector tiles\n${openLayersTiles(template, first, last)}\n\n` : ''}// features of the view\n${openLayersFeatures(`${base}/ogc/collections/${at}/items`)}`
    case 'QGIS':
      return `Layer → Add Layer → Add WFS / OGC API - Features Layer → New\nURL: ${ogc}\nVersion: OGC API - Features   Page size: 10000${
        hasTiles
          ? `\n\nLayer → Add Layer → Add Vector Tile Layer → New Generic Connection\nURL: ${template}\nMin. zoom: ${first}   Max. zoom: ${last}`
          : ''
      }`
    case 'ArcGIS':
      return `ArcGIS Pro: Insert → Connections → New OGC API Server\n${ogc}\n\nArcGIS Online: Add → Add layer from URL → OGC API Features\n${ogc}`
    case 'GDAL':
      return `ogrinfo -so -al 'OAPIF:${base}/ogc/collections/${at}?${token}' -oo PAGE_SIZE=10000${
        hasTiles
          ? `\n\nogrinfo -so 'MVT:${base}/vectors/${at}/tiles/${last}' -oo TILE_EXTENSION=mvt \\\n  -oo METADATA_FILE='${tileJson}' --config GDAL_HTTP_HEADERS 'X-Access-Token: ${TOKEN_PLACE}'`
          : ''
      }`
    case 'curl':
      return `curl -fsS -H 'X-Access-Token: ${TOKEN_PLACE}' '${base}/ogc/collections/${at}/items?limit=10'\ncurl -fsS -H 'X-Access-Token: ${TOKEN_PLACE}' -O '${base}/vectors/${at}.gpkg'`
  }
}

function maplibre(code: string, tileJson: string, layers: readonly string[]): string {
  const drawn = layers.map(
    (layer) =>
      `map.addLayer({ id: ${quoted(layer)}, type: 'line', source: ${quoted(code)}, 'source-layer': ${quoted(layer)} })`,
  )
  return [`map.addSource(${quoted(code)}, { type: 'vector', url: ${quoted(tileJson)} })`, ...drawn].join('\n')
}

function openLayersTiles(template: string, first: number, last: number): string {
  return `new VectorTileLayer({ source: new VectorTileSource({
  format: new MVT(), url: ${quoted(template)}, minZoom: ${first}, maxZoom: ${last}
}) })`
}

function openLayersFeatures(items: string): string {
  return `new VectorLayer({ source: new VectorSource({
  format: new GeoJSON(), strategy: bbox,
  url: ([west, south, east, north], _, projection) => ${quoted(`${items}?limit=10000&token=${TOKEN_PLACE}&bbox=`)} +
    transformExtent([west, south, east, north], projection, 'EPSG:4326').join(',')
}) })`
}

function baseOf(download: string): string {
  return download.slice(0, download.lastIndexOf('/vectors/'))
}
