import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { columnsOf, isOwnGrid } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'

export const CLIENTS = ['MapLibre', 'Leaflet', 'OpenLayers', 'QGIS', 'ArcGIS', 'GDAL', 'curl'] as const
export type Client = (typeof CLIENTS)[number]

/** Placeholder for the reader's token. */
export const TOKEN_PLACE = 'YOUR_TOKEN'

export interface Described {
  readonly code: string
  readonly name: string
  /** the basemap's URL with {z}, {x} and {y} that names the version `current` */
  readonly template: string
  /** the version served at the URL; the snippets contain its zooms and tile size */
  readonly version: BasemapVersion
  /** true if URLs name that version instead of following the default */
  readonly pinned: boolean
  /** replaces YOUR_TOKEN */
  readonly token?: string
  /** origins of the pages that may use the token; absent or empty: any caller */
  readonly origins?: readonly string[]
}

const SERVICES = ['xyz', 'tilejson', 'wmts', 'ogc', 'tms', 'archive'] as const
export type Service = (typeof SERVICES)[number]

/** Returns the URLs of a basemap by service. TMS has no versions, and a folder has no archive URL. */
export function serviceUrls(described: Described): readonly (readonly [Service, string])[] {
  const { code, template, version, pinned } = described
  const base = template.slice(0, template.indexOf('/tiles/'))
  const at = encodeURIComponent(code)
  const label = encodeURIComponent(pinned ? version.version : 'current')
  const urls: Readonly<Record<Service, string | null>> = {
    xyz: address(described),
    tilejson: `${base}/tiles/${at}/${label}/tilejson.json`,
    wmts: pinned ? null : `${base}/wmts?only=${at}`,
    ogc: pinned ? null : `${base}/ogc/collections/${at}`,
    tms: pinned ? null : `${base}/tms/1.0.0/${at}`,
    archive: isArchive(version) ? `${base}/archives/${at}/${label}.${version.storage}` : null,
  }
  return SERVICES.flatMap((service) => {
    const url = urls[service]
    return url === null ? [] : [[service, url] as const]
  })
}

function isArchive({ storage }: BasemapVersion): boolean {
  return storage === 'mbtiles' || storage === 'pmtiles'
}

/**
 * Returns the snippet that adds the basemap to a client. Clients that cannot draw vector tiles get a note instead. A token that is limited to pages
 * needs a header from programs, and a program that cannot send it cannot use the token.
 */
export function snippet(client: Client, described: Described): string {
  const text = anyCaller(client, described)
  const [origin] = described.origins ?? []
  if (origin === undefined) return text
  switch (client) {
    case 'curl':
      return text.replace(/^curl -fsS/, `curl -fsS -H 'Origin: ${origin}'`)
    case 'GDAL':
      return text.includes('GDAL_HTTP_HEADERS')
        ? text.replace("GDAL_HTTP_HEADERS '", `GDAL_HTTP_HEADERS 'Origin: ${origin}, `)
        : `${text} \\\n  --config GDAL_HTTP_HEADERS 'Origin: ${origin}'`
    case 'QGIS':
      return `${text}\nReferer: ${origin}/`
    case 'ArcGIS':
      return `This token is only for pages of ${described.origins?.join(', ')}: ArcGIS cannot use it.`
    default:
      return `// Only on pages of ${described.origins?.join(', ')}\n${text}`
  }
}

function anyCaller(client: Client, described: Described): string {
  const place = described.token ?? TOKEN_PLACE
  const tiles = address(described)
  const url = withToken(tiles, place)
  const { min_zoom: minZoom, max_zoom: maxZoom, tile_size: tileSize, format } = described.version
  const vector = isVector(format)
  if (columnsOf(described.version) === 2 && client !== 'curl' && client !== 'GDAL')
    return geographic(client, described, url)
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
    case 'GDAL':
      return gdal(described, place)
    case 'curl':
      return `curl -fsS -H 'X-Access-Token: ${place}' -o tile.${format} \\\n  '${tiles.replace('{z}', String(minZoom)).replace('{x}', '0').replace('{y}', '0')}'`
  }
}

/** The snippet for a geographic grid. Clients that know only Web Mercator would show the Americas where Africa lies. */
function geographic(
  client: Exclude<Client, 'curl' | 'GDAL'>,
  { code, template, version, token = TOKEN_PLACE }: Described,
  url: string,
): string {
  const { min_zoom: minZoom, max_zoom: maxZoom, tile_size: tileSize, format } = version
  const wmts = `${template.slice(0, template.indexOf('/tiles/'))}/wmts?only=${encodeURIComponent(code)}&token=${token}`
  const degrees = 180 / tileSize
  if (isOwnGrid(version) && client !== 'QGIS' && client !== 'ArcGIS')
    return `// Configure ${client} with the grid of ${version.crs}, which the WMTS describes. QGIS and ArcGIS read it themselves.\n// ${wmts}`
  switch (client) {
    case 'MapLibre':
      return `// MapLibre takes all tiles for Web Mercator; these lie in ${version.crs}: use OpenLayers, Leaflet or QGIS for\n// ${url}`
    case 'Leaflet':
      return isVector(format)
        ? `// Leaflet has no plugin for vector tiles in ${version.crs}; use OpenLayers for\n// ${url}`
        : `// the map: L.map('map', { crs: L.CRS.EPSG4326 })\nL.tileLayer(${quoted(url)}, {\n  minZoom: ${minZoom}, maxNativeZoom: ${maxZoom}, tileSize: ${tileSize}${tileSize === 512 ? ', zoomOffset: -1' : ''}\n}).addTo(map)`
    case 'OpenLayers':
      return isVector(format)
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

/** The URL of the current default version, or of one version with its revision, since caches keep its tiles for a year. */
function address({ template, version: { version, revision }, pinned }: Described): string {
  if (!pinned) return template
  return `${template.replace('/current/{z}', () => `/${encodeURIComponent(version)}/{z}`)}?v=${revision}`
}

function withToken(url: string, token: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}token=${token}`
}

/** Uses the TileJSON of vector tiles, from which MapLibre reads their layers. */
function maplibreVector(described: Described): string {
  const tileJson = serviceUrls(described).find(([service]) => service === 'tilejson')?.[1] as string
  const url = withToken(tileJson, described.token ?? TOKEN_PLACE)
  return `map.addSource(${quoted(described.code)}, { type: 'vector', url: ${quoted(url)} })`
}

/** Reads images by WMTS, which describes the grid, zooms and bounds, and vector tiles by their TileJSON. */
function gdal({ code, template, version, pinned }: Described, token: string): string {
  const base = template.slice(0, template.indexOf('/tiles/'))
  if (isVector(version.format)) {
    const label = encodeURIComponent(pinned ? version.version : 'current')
    return `ogrinfo -so 'MVT:${base}/tiles/${encodeURIComponent(code)}/${label}/${version.max_zoom}' \\\n  -oo METADATA_FILE='${base}/tiles/${encodeURIComponent(code)}/${label}/tilejson.json?token=${token}' \\\n  --config GDAL_HTTP_HEADERS 'X-Access-Token: ${token}'`
  }
  return `gdal_translate -outsize 1024 0 \\\n  'WMTS:${base}/wmts?only=${encodeURIComponent(code)}&token=${token},layer=${code}' ${code}.tif`
}

/** Renames the placeholders to those of ArcGIS: level, col and row. */
function arcgis(url: string): string {
  return url.replace('{z}', '{level}').replace('{x}', '{col}').replace('{y}', '{row}')
}

export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
