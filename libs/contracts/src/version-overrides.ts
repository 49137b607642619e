import {
  type Bounds,
  COORDINATE_OFFSETS,
  type CoordinateOffset,
  isVectorFormat,
  type OwnTileMatrixSetId,
  type RowOrder,
  type Storage,
  TILE_MATRIX_SET_IDS,
  type TileFormat,
  type TileMatrixSetId,
  type VersionOverrides,
} from './basemap.js'

/** The values of a version that overrides affect. */
export interface Overridable {
  readonly storage: Storage
  /** true if rows of an MBTiles archive are counted from the north, against its specification */
  readonly rowsFromNorth: boolean
  readonly format: TileFormat
  /** pixels; 512 for vector tiles */
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  /** true if the bounds were computed from the tiles, not read from metadata */
  readonly boundsDerived: boolean
  readonly attribution: string | null
  readonly tileMatrixSet: TileMatrixSetId
  readonly name: string | null
}

/** Returns the label in a set's own metadata; null if it has none, or an unknown one. */
export function scannedOffset(metadata: Readonly<Record<string, unknown>>): CoordinateOffset | null {
  const { coordinate_offset: said } = metadata
  return COORDINATE_OFFSETS.find((offset) => typeof said === 'string' && said.toLowerCase() === offset) ?? null
}

/** Returns the label of a version: the operator's, or else that of its metadata. */
export function offsetOf(version: {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly overrides: VersionOverrides
}): CoordinateOffset | null {
  return version.overrides.coordinate_offset ?? scannedOffset(version.metadata)
}

/** Storages, besides folders, whose rows may be counted from either side, as stated by `rowsFromNorth`. */
const OF_EITHER_ORDER: ReadonlySet<Storage> = new Set<Storage>([
  'mbtiles',
  'mapproxy_tc',
  'mapproxy_mp',
  'mapproxy_arcgis',
  'quadkey',
  'zyx',
])

/** null: PMTiles and others whose form, or whose own grid, says how rows are counted. */
export function rowOrderOf({
  storage,
  rowsFromNorth,
  tileMatrixSet,
}: Pick<Overridable, 'storage' | 'rowsFromNorth' | 'tileMatrixSet'>): RowOrder | null {
  if (isOwnGrid(tileMatrixSet)) return null
  if (storage === 'xyz' || storage === 'tms') return storage
  if (!OF_EITHER_ORDER.has(storage)) return null
  return rowsFromNorth ? 'xyz' : 'tms'
}

/** Returns the served values: those of the operator, or else those of the scan. Zooms that contradict the current scan are not applied. */
export function withOverrides(scanned: Overridable, overrides: VersionOverrides): Overridable {
  const format = overrides.format ?? scanned.format
  const tileMatrixSet = overrides.tile_matrix_set ?? scanned.tileMatrixSet
  const order = rowOrderOf(scanned)
  const wanted = order === null ? null : (overrides.storage ?? order)
  const [minZoom, maxZoom] = [overrides.min_zoom ?? scanned.minZoom, overrides.max_zoom ?? scanned.maxZoom]
  const zooms = minZoom <= maxZoom ? { minZoom, maxZoom } : { minZoom: scanned.minZoom, maxZoom: scanned.maxZoom }
  return {
    storage: scanned.storage === 'xyz' || scanned.storage === 'tms' ? (wanted ?? scanned.storage) : scanned.storage,
    rowsFromNorth: OF_EITHER_ORDER.has(scanned.storage) && wanted === 'xyz',
    format,
    tileSize: tileSizeOf(format, scanned),
    ...zooms,
    bounds: overrides.bounds ?? movedBounds(scanned, wanted !== order, tileMatrixSet),
    boundsDerived: scanned.boundsDerived && overrides.bounds === undefined,
    attribution: overrides.attribution ?? scanned.attribution,
    tileMatrixSet,
    name: overrides.name ?? scanned.name,
  }
}

/** Vector tiles are drawn at 512 pixels, whatever the scan found. */
function tileSizeOf(format: TileFormat, scanned: Overridable): number {
  if (isVectorFormat(format) === isVectorFormat(scanned.format)) return scanned.tileSize
  return isVectorFormat(format) ? 512 : 256
}

/** True if the grid belongs to one set only. Its rows are counted from the north. */
export function isOwnGrid(grid: TileMatrixSetId): grid is OwnTileMatrixSetId {
  return !(TILE_MATRIX_SET_IDS as readonly string[]).includes(grid)
}

/** Bounds that were computed from tiles follow the tiles to another grid or order of rows; those of metadata stay. */
function movedBounds(scanned: Overridable, isFlipped: boolean, grid: TileMatrixSetId): Bounds | null {
  const { bounds, boundsDerived, tileMatrixSet } = scanned
  if (bounds === null || !boundsDerived) return bounds
  const [west, south, east, north]: Bounds = isFlipped ? [bounds[0], -bounds[3], bounds[2], -bounds[1]] : bounds
  const isMercator = grid === 'WebMercatorQuad'
  if (isOwnGrid(tileMatrixSet)) return grid === tileMatrixSet ? bounds : null
  if (isMercator === (tileMatrixSet === 'WebMercatorQuad')) return [west, south, east, north]
  const factor = isMercator ? 2 : 0.5
  const x = (longitude: number) => Math.min(360, (longitude + 180) * factor) - 180
  const y = isMercator ? mercatorLatitude : geographicLatitude
  return [x(west), y(south), x(east), y(north)]
}

/** Returns the latitude in Web Mercator at the same relative position as a latitude in a geographic grid. */
function mercatorLatitude(latitude: number): number {
  return (Math.atan(Math.sinh((latitude / 90) * Math.PI)) * 180) / Math.PI
}

function geographicLatitude(latitude: number): number {
  return (Math.asinh(Math.tan((latitude * Math.PI) / 180)) / Math.PI) * 90
}
