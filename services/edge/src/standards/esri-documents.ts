import { type Bounds, isVectorFormat } from '@gateway/contracts/basemap.js'
import { inUnitsOf, matrixAt, type TileMatrixSet } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, boundsWithinGrid, type Layer } from './layer.js'
import { jsonPieces } from './remembered.js'

/** Version of ArcGIS Server whose forms these documents have. */
const CURRENT_VERSION = { currentVersion: 10.91, fullVersion: '10.9.1' }
const DPI = 96
/** Inches per metre in Esri's scales. */
const INCHES_PER_METRE = 39.37
const METRES_PER_DEGREE = (Math.PI * 6378137) / 180
/** Web Mercator in Esri's own tiling scheme; the exact half is a hundredth of a millimetre longer. */
const ESRI_HALF = 20037508.342787
const ESRI_CELL = 156543.03392800014
/** Side of a vector tile in pixels in Esri's clients. */
const VECTOR_PIXELS = 512

/** Returns Esri's error object. `code` is the status of the edge's response; 498 and 499 make clients ask for a token. */
export function esriError(code: number, message: string): string {
  return JSON.stringify({ error: { code, message, details: [] } })
}

export function serverInfo(): object {
  return { ...CURRENT_VERSION, authInfo: { isTokenBasedSecurity: true } }
}

/** The list of services, piece by piece. */
export function serviceListPieces(services: Iterable<object>): Iterable<string> {
  return jsonPieces({ ...CURRENT_VERSION, folders: [] }, 'services', textsOf(services))
}

function* textsOf(services: Iterable<object>): Iterable<string> {
  for (const service of services) yield JSON.stringify(service)
}

export type ServiceType = 'MapServer' | 'VectorTileServer'

/** Returns null for vector tiles that Esri's interface does not know: its clients would take them for pictures. */
export function serviceType({ format }: Pick<Layer, 'format'>): ServiceType | null {
  if (format === 'pbf') return 'VectorTileServer'
  return isVectorFormat(format) ? null : 'MapServer'
}

export function mapServer(layer: Layer): object {
  const { title, description, attribution } = layer
  const extent = extentOf(layer)
  return {
    ...CURRENT_VERSION,
    serviceDescription: description ?? '',
    mapName: title,
    description: description ?? '',
    copyrightText: attribution ?? '',
    supportsDynamicLayers: false,
    layers: [{ ...layerSummary(layer), parentLayerId: -1, defaultVisibility: true, subLayerIds: null }],
    tables: [],
    spatialReference: spatialReference(layer.set),
    singleFusedMapCache: true,
    tileInfo: tileInfo(layer),
    initialExtent: extent,
    fullExtent: extent,
    ...scaleRange(layer),
    units: layer.set.columns === 2 ? 'esriDecimalDegrees' : 'esriMeters',
    supportedImageFormatTypes: imageFormat(layer),
    documentInfo: { Title: title, Author: '', Comments: '', Subject: '', Category: '', Keywords: '' },
    capabilities: 'Map,TilesOnly,Tilemap',
    supportedQueryFormats: 'JSON',
    exportTilesAllowed: false,
  }
}

/** Returns the only layer of a map service, `MapServer/0`, which QGIS requests. */
export function mapLayer(layer: Layer): object {
  return {
    ...CURRENT_VERSION,
    ...layerSummary(layer),
    type: 'Raster Layer',
    description: layer.description ?? '',
    copyrightText: layer.attribution ?? '',
    parentLayer: null,
    subLayers: [],
    defaultVisibility: true,
    extent: extentOf(layer),
    capabilities: 'Map',
  }
}

export function mapLayers(layer: Layer): object {
  return { layers: [mapLayer(layer)], tables: [] }
}

/** Returns an empty legend, because images have none. */
export function mapLegend(layer: Layer): object {
  const { id, name, ...scales } = layerSummary(layer)
  return { layers: [{ layerId: id, layerName: name, layerType: 'Raster Layer', ...scales, legend: [] }] }
}

export function vectorTileServer(layer: Layer, { token }: Addresses): object {
  const extent = extentOf(layer)
  return {
    ...CURRENT_VERSION,
    name: layer.title,
    description: layer.description ?? '',
    copyrightText: layer.attribution ?? '',
    capabilities: 'TilesOnly',
    type: 'indexedVector',
    defaultStyles: 'resources/styles',
    tiles: [withToken('tile/{z}/{y}/{x}.pbf', token)],
    exportTilesAllowed: false,
    initialExtent: extent,
    fullExtent: extent,
    ...scaleRange(layer),
    // The numbers of levels, with the names that vector tile services use.
    minzoom: layer.minZoom,
    maxzoom: layer.maxZoom,
    tileInfo: tileInfo(layer),
    resourceInfo: {
      styleVersion: 8,
      tileCompression: 'gzip',
      cacheInfo: { storageInfo: { packetSize: 128, storageFormat: 'compactV2' } },
    },
  }
}

/** Returns a plain style (MapLibre style specification, version 8) that draws every layer of a set with default symbols. */
export function rootStyle(layer: Layer, { token }: Addresses): object {
  const layers = (layer.vectorLayers ?? []).flatMap(({ id }) =>
    DRAWN.map(({ geometry, type, paint }) => ({
      id: `${id} ${type}`,
      type,
      source: 'esri',
      'source-layer': id,
      filter: ['==', '$type', geometry],
      paint,
    })),
  )
  return { version: 8, sources: { esri: { type: 'vector', url: withToken('../../', token) } }, layers }
}

const DRAWN = [
  { geometry: 'Polygon', type: 'fill', paint: { 'fill-color': '#9db8c9', 'fill-opacity': 0.5 } },
  { geometry: 'LineString', type: 'line', paint: { 'line-color': '#3b6078', 'line-width': 1 } },
  { geometry: 'Point', type: 'circle', paint: { 'circle-color': '#b0413e', 'circle-radius': 3 } },
] as const

function withToken(address: string, token: string): string {
  return token === '' ? address : `${address}?${token}`
}

function layerSummary(layer: Layer) {
  const { minScale, maxScale } = scaleRange(layer)
  return { id: 0, name: layer.title, minScale, maxScale }
}

/**
 * Returns the levels, which are zooms. The list begins with 0, because GDAL and Esri's clients count from the first level. The zooms with tiles are
 * `minLOD` to `maxLOD`.
 */
function tileInfo(layer: Layer): object {
  const { set } = layer
  const pixels = pixelsOf(layer)
  const [x, y] = originOf(set)
  return {
    rows: pixels,
    cols: pixels,
    dpi: DPI,
    format: layer.format === 'pbf' ? 'pbf' : imageFormat(layer),
    compressionQuality: 0,
    origin: { x, y },
    spatialReference: spatialReference(set),
    lods: Array.from({ length: lastLevel(layer) + 1 }, (_, level) => ({ level, ...lod(layer, level) })),
  }
}

/** Returns the last level that a service describes: a set's own grid is described with all levels. */
function lastLevel({ set, maxZoom }: Layer): number {
  return set.own === null ? maxZoom : set.own.matrices.length - 1
}

function originOf({ own, columns }: TileMatrixSet): readonly [x: number, y: number] {
  if (own !== null) return own.numbers.origin
  return columns === 2 ? [-180, 90] : [-ESRI_HALF, ESRI_HALF]
}

function lod(layer: Layer, level: number): { resolution: number; scale: number } {
  const isGeographic = layer.set.columns === 2
  const quadtree = ((isGeographic ? layer.set.cellSize : ESRI_CELL) * 256) / pixelsOf(layer) / 2 ** level
  const resolution = layer.set.own === null ? quadtree : (matrixAt(layer.set, level)?.cellSize ?? quadtree)
  return { resolution, scale: resolution * (isGeographic ? METRES_PER_DEGREE : 1) * DPI * INCHES_PER_METRE }
}

function scaleRange(layer: Layer) {
  const { minZoom, maxZoom } = layer
  return { minScale: lod(layer, minZoom).scale, maxScale: lod(layer, maxZoom).scale, minLOD: minZoom, maxLOD: maxZoom }
}

function pixelsOf({ set, format, tileSize }: Layer): number {
  if (set.own !== null) return set.own.numbers.tileSize
  return isVectorFormat(format) ? VECTOR_PIXELS : tileSize
}

function imageFormat({ format, formats }: Layer): string {
  if (formats != null) return 'MIXED'
  return { png: 'PNG32', jpg: 'JPEG', webp: 'WEBP', avif: 'AVIF', pbf: 'pbf', mlt: 'mlt' }[format]
}

function extentOf(layer: Layer): object {
  const [xmin, ymin, xmax, ymax]: Bounds = inUnitsOf(layer.set, boundsWithinGrid(layer))
  return { xmin, ymin, xmax, ymax, spatialReference: spatialReference(layer.set) }
}

/** Returns the spatial reference. Esri has its own number for Web Mercator; `latestWkid` is EPSG's. */
function spatialReference({ crs }: TileMatrixSet): object {
  const latestWkid = Number(crs.slice('EPSG:'.length))
  return { wkid: latestWkid === 3857 ? 102100 : latestWkid, latestWkid }
}
