import type { Bounds, KnownTileMatrixSetId, TileFormat, TileMatrices, VectorLayer } from '@gateway/contracts/basemap.js'
import { parseOutsideJson } from '@gateway/core/files/outside-json.js'
import { isKnownGrid } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { formatOfExtension } from '../formats.js'
import { type Center, readBounds, readCenter, readText, readVectorLayers, readZoom } from './fields.js'
import { readGrid, type SaidGrid } from './grid.js'
import { otherFields } from './other-fields.js'

const FORMAT_OF_MEDIA_TYPE: ReadonlyMap<string, TileFormat> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/jpg', 'jpg'],
  ['image/webp', 'webp'],
  ['image/avif', 'avif'],
  ['application/x-protobuf', 'pbf'],
  ['application/vnd.mapbox-vector-tile', 'pbf'],
  ['application/vnd.maplibre-vector-tile', 'mlt'],
  ['application/vnd.maplibre-tile', 'mlt'],
])

/** Returns the tile format from `format` (an extension or media type, as in MBTiles), or else from the first URL in TileJSON's `tiles`. */
function formatOfMetadata(fields: Readonly<Record<string, unknown>>): TileFormat | null {
  // TileJSON's `encoding`, of which other values are about heights.
  if (fields.encoding === 'mlt') return 'mlt'
  if (typeof fields.format === 'string') {
    const named = fields.format.trim().toLowerCase()
    const format = formatOfExtension(named) ?? FORMAT_OF_MEDIA_TYPE.get(named)
    if (format !== undefined) return format
    // TileMill and QGIS write png8, png24 and the like.
    if (/^png\d+$/.test(named)) return 'png'
  }
  const address: unknown = Array.isArray(fields.tiles) ? fields.tiles[0] : undefined
  const extension = typeof address === 'string' ? /\{-?y\}(?:@2x)?\.(\w+)(?:[?#]|$)/.exec(address)?.[1] : undefined
  return extension === undefined ? null : formatOfExtension(extension)
}

/** The content of a metadata file, table or section; null for missing and invalid fields. */
export interface TileSetMetadata {
  readonly name: string | null
  readonly attribution: string | null
  readonly description: string | null
  readonly format: TileFormat | null
  readonly minZoom: number | null
  readonly maxZoom: number | null
  readonly bounds: Bounds | null
  /** null: the row order is not declared */
  readonly scheme: 'xyz' | 'tms' | null
  readonly vectorLayers: readonly VectorLayer[] | null
  readonly grid: SaidGrid['grid']
  readonly gridNamed: SaidGrid['named']
  /** the numbers of the set's own grid */
  readonly tileMatrices?: TileMatrices
  /** why such numbers make no grid */
  readonly gridRefusal?: string
  /** all other fields, unchanged, and `center` if it can be read */
  readonly other: Readonly<Record<string, unknown>>
  /** one line for each existing field that cannot be used */
  readonly warnings: readonly string[]
}

/**
 * Reads the fields shared by TileJSON 2 and 3, the MBTiles 1.3 metadata table and PMTiles 3 metadata. Numbers may be numbers or
 * decimal strings, bounds an array or "w,s,e,n"; the vector layers may be inside a field `json` that contains JSON text (MBTiles,
 * tippecanoe). Leaves out an invalid field with a warning, and never throws.
 */
export function readMetadata(fields: Readonly<Record<string, unknown>>): TileSetMetadata {
  const warnings: string[] = []
  const inner = innerFields(fields.json, warnings)
  const { grid, named, matrices, refusal } = readGrid(fields)
  return {
    name: readText('name', fields.name, warnings),
    attribution: readText('attribution', fields.attribution, warnings),
    description: readText('description', fields.description, warnings),
    format: formatOfMetadata(fields),
    minZoom: readZoom('minzoom', fields.minzoom, warnings),
    maxZoom: readZoom('maxzoom', fields.maxzoom, warnings),
    bounds: readBounds(fields.bounds, warnings),
    scheme: readScheme(fields.scheme, warnings) ?? schemeOfAddress(fields.tiles),
    vectorLayers: readVectorLayers(fields.vector_layers ?? inner.vector_layers, warnings),
    grid,
    gridNamed: named,
    ...(matrices !== undefined && { tileMatrices: matrices }),
    ...(refusal !== undefined && { gridRefusal: refusal }),
    other: withCenter(readCenter(fields.center), otherFields(fields, warnings)),
    warnings,
  }
}

/** Keeps the center among the other fields, since only TileJSON contains it. */
export function withCenter(center: Center | null, other: Readonly<Record<string, unknown>>) {
  return center === null ? other : { ...other, center }
}

/** Returns the grid of a set. Throws `BrokenArchiveError` if the grid is not served. */
export function servedGrid(metadata: TileSetMetadata): KnownTileMatrixSetId {
  const { id, tileMatrices } = gridOfFolder(metadata)
  if (tileMatrices === undefined && isKnownGrid(id)) return id
  throw new BrokenArchiveError(
    `its tiles are in ${metadata.gridNamed.slice(0, MAX_NAMED)}, which is served only from folders, Esri caches and GeoPackages`,
  )
}

/** The same for a folder, which may have its own grid. */
export function gridOfFolder({ grid, gridNamed, tileMatrices, gridRefusal }: TileSetMetadata) {
  if (grid !== null) return { id: grid, tileMatrices }
  const other = `its tiles are in ${gridNamed.slice(0, MAX_NAMED)}; only ${SERVED_SYSTEMS} are served`
  throw new BrokenArchiveError(gridRefusal ?? other)
}

/** The systems that are served, for messages. */
export const SERVED_SYSTEMS = 'EPSG:3857, EPSG:4326, EPSG:4490 and EPSG:4513 to 4554'

/** Limit: characters of an unknown grid's name in a message. */
const MAX_NAMED = 80

export const NO_METADATA: TileSetMetadata = readMetadata({})

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An address with `{-y}`, as QGIS and Leaflet write it, counts rows from the south. */
function schemeOfAddress(tiles: unknown): 'tms' | null {
  const address: unknown = Array.isArray(tiles) ? tiles[0] : undefined
  return typeof address === 'string' && address.includes('{-y}') ? 'tms' : null
}

function readScheme(value: unknown, warnings: string[]): 'xyz' | 'tms' | null {
  if (value === undefined || value === null || value === '') return null
  const scheme = typeof value === 'string' ? value.toLowerCase() : null
  if (scheme === 'xyz' || scheme === 'tms') return scheme
  warnings.push('scheme is neither xyz nor tms')
  return null
}

function innerFields(json: unknown, warnings: string[]): Record<string, unknown> {
  if (json === undefined || json === null || json === '') return {}
  if (isRecord(json)) return json
  try {
    const parsed: unknown = typeof json === 'string' ? parseOutsideJson(json) : null
    if (isRecord(parsed)) return parsed
  } catch {
    // The warning below covers this.
  }
  warnings.push('json is not the text of a JSON object')
  return {}
}
