import type { Bounds, TileMatrices, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { BrokenArchiveError } from '../broken-archive.js'
import { isGaussKrueger, ownMatrices, ownSetId, zoneOf } from '../gauss-krueger.js'
import { degreesOf, describeMatrix, fitInGrid, gridOfCode, type MatrixFit } from '../grid-fit.js'
import { plainColumns, quotedName, readObjects, type SchemaObjects } from '../mbtiles/plain-tables.js'
import { prepareQuick, rowOf, type TileQuery } from '../mbtiles/queries.js'
import { KEY_COLUMNS } from '../mbtiles/schema.js'
import { asArchiveError } from '../mbtiles/sqlite-error.js'
import { SERVED_SYSTEMS } from '../metadata/metadata.js'

/** Limits: tables and views of a file, tables of tiles, and matrices of one table. */
const MAX_OBJECTS = 10_000
const MAX_TABLES = 1_000
const MAX_MATRICES = 100

/** The tables of the standard (OGC 12-128r19) with the columns that are read. */
const CONTENTS = ['table_name', 'data_type', 'identifier', 'description', 'min_x', 'min_y', 'max_x', 'max_y', 'srs_id']
const MATRIX_SET = ['table_name', 'srs_id', 'min_x', 'min_y', 'max_x', 'max_y']
const MATRIX = ['table_name', 'zoom_level', 'matrix_width', 'matrix_height', 'tile_width', 'tile_height']
const SYSTEMS = ['srs_id', 'organization', 'organization_coordsys_id']

/** A zoom of the grid as stored in the table. */
interface StoredZoom extends MatrixFit {
  readonly level: number
  readonly tileSize: number
}

export interface TileTable {
  readonly table: string
  readonly grid: TileMatrixSetId
  /** the numbers of the table's own grid */
  readonly tileMatrices?: TileMatrices
  /** by zoom of the grid */
  readonly zooms: ReadonlyMap<number, StoredZoom>
  readonly bounds: Bounds | null
  readonly name: string | null
  readonly description: string | null
  readonly warnings: readonly string[]
}

/** Returns the names of the tables of tiles; empty if the file contains none, or is not a GeoPackage. Throws `BrokenArchiveError`. */
export function tileTables(database: DatabaseSyncInstance): string[] {
  const objects = readObjects(database, MAX_OBJECTS)
  if (!has(database, objects, 'gpkg_contents', CONTENTS)) return []
  return rows(
    database,
    `SELECT table_name FROM main.gpkg_contents WHERE data_type = 'tiles' ORDER BY rowid LIMIT ${MAX_TABLES}`,
  ).map(({ table_name: name }) => String(name))
}

/** Returns the file's description of a table of tiles. Throws `BrokenArchiveError` if the table cannot be served. */
export function describeTable(database: DatabaseSyncInstance, table: string): TileTable {
  const objects = readObjects(database, MAX_OBJECTS)
  for (const [name, columns] of [
    ['gpkg_contents', CONTENTS],
    ['gpkg_tile_matrix_set', MATRIX_SET],
    ['gpkg_tile_matrix', MATRIX],
  ] as const) {
    if (!has(database, objects, name, columns))
      throw new BrokenArchiveError(`the GeoPackage has no usable table ${name}`)
  }
  const [content] = rows(
    database,
    `SELECT ${CONTENTS.join()} FROM main.gpkg_contents WHERE table_name = ? LIMIT 1`,
    table,
  )
  const [set] = rows(
    database,
    `SELECT ${MATRIX_SET.join()} FROM main.gpkg_tile_matrix_set WHERE table_name = ? LIMIT 1`,
    table,
  )
  if (content?.data_type !== 'tiles' || set === undefined)
    throw new BrokenArchiveError('the GeoPackage has no such table of tiles')
  if (!has(database, objects, table, [...KEY_COLUMNS, 'tile_data']))
    throw new BrokenArchiveError('its table of tiles does not exist, or is not a plain table')
  const code = codeOf(database, objects, Number(set.srs_id))
  const rowsOfMatrices = `SELECT ${MATRIX.join()} FROM main.gpkg_tile_matrix WHERE table_name = ? ORDER BY zoom_level LIMIT ${MAX_MATRICES}`
  const matrices = rows(database, rowsOfMatrices, table)
  return {
    table,
    ...(isGaussKrueger(code) ? ownZooms(code, set, content, matrices) : zoomsOf(code, set, content, matrices)),
    name: textOf(content.identifier),
    description: textOf(content.description),
  }
}

type Row = Record<string, unknown>
type Zooms = Pick<TileTable, 'grid' | 'tileMatrices' | 'zooms' | 'bounds' | 'warnings'>

/** Returns the zooms of a table in a zone of Gauss-Kruger: its matrices are the grid, and their levels zooms from the coarsest one on. */
function ownZooms(code: number, set: Row, content: Row, matrices: readonly Row[]): Zooms {
  const [left, bottom, right, top] = box(set)
  const first = matrices[0]
  const tileMatrices = ownMatrices({
    code,
    left,
    top,
    columns: Number(first?.tile_width),
    rows: Number(first?.tile_height),
    resolutions: matrices.map((row) => (right - left) / Number(row.matrix_width) / Number(row.tile_width)),
  })
  const tileSize = Number(first?.tile_width)
  const zooms = new Map(
    matrices.map((row, z) => [z, { z, column: 0, row: 0, level: Number(row.zoom_level), tileSize }]),
  )
  const inZone = [box(content), [left, bottom, right, top] as Bounds].find((one) => one.every(Number.isFinite))
  const bounds = inZone === undefined ? null : zoneOf(code).toDegrees(inZone)
  return { grid: ownSetId(tileMatrices), tileMatrices, zooms, bounds, warnings: [] }
}

function zoomsOf(code: number, set: Row, content: Row, matrices: readonly Row[]): Zooms {
  const grid = gridOfCode(code)
  if (grid === null) throw new BrokenArchiveError(`its tiles are in EPSG:${code}; only ${SERVED_SYSTEMS} are served`)
  const [left, bottom, right, top] = box(set)
  const zooms = new Map<number, StoredZoom>()
  const off: string[] = []
  for (const row of matrices) {
    const level = Number(row.zoom_level)
    const matrix = {
      left,
      top,
      tileWidth: (right - left) / Number(row.matrix_width),
      tileHeight: (top - bottom) / Number(row.matrix_height),
    }
    const fit = fitInGrid(grid, matrix)
    if (fit === null || zooms.has(fit.z)) off.push(`level ${level} (${describeMatrix(matrix)})`)
    else zooms.set(fit.z, { ...fit, level, tileSize: Number(row.tile_width) })
  }
  const others = `${off.slice(0, 3).join(', ')}${off.length > 3 ? ' and others' : ''}`
  if (zooms.size === 0)
    throw new BrokenArchiveError(`its tiles are not those of ${grid}: ${others || 'it has no tile matrix'}`)
  return {
    grid,
    zooms,
    bounds: degreesOf(grid, box(content)) ?? degreesOf(grid, [left, bottom, right, top]),
    warnings: off.length === 0 ? [] : [`levels that are not zooms of ${grid} are not served: ${others}`],
  }
}

/** Prepares the look-up of tiles by XYZ. Throws `BrokenArchiveError`. */
export function prepareTable(database: DatabaseSyncInstance, { table, zooms }: TileTable, size: number): TileQuery {
  const name = quotedName(table)
  const sql = `SELECT tile_data FROM main.${name} WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3 LIMIT 1`
  const statement = prepareQuick(database, sql, { table, by: KEY_COLUMNS, size })
  return (z, x, y) => {
    const zoom = zooms.get(z)
    if (zoom === undefined) return null
    const data = rowOf(statement, [zoom.level, x - zoom.column, y - zoom.row])?.tile_data
    return data instanceof Uint8Array && data.length > 0 ? data : null
  }
}

/** Yields the XYZ tiles of a zoom by a full scan of the table. */
export function* addressesOfTable(
  database: DatabaseSyncInstance,
  { table, zooms }: TileTable,
  z: number,
): Generator<readonly [x: number, y: number]> {
  const zoom = zooms.get(z)
  if (zoom === undefined) return
  const sql = `SELECT tile_column AS x, tile_row AS y FROM main.${quotedName(table)} WHERE zoom_level = ?`
  try {
    for (const row of database.prepare(sql).iterate(zoom.level) as Iterable<{ x: unknown; y: unknown }>)
      yield [Number(row.x) + zoom.column, Number(row.y) + zoom.row]
  } catch (error) {
    throw asArchiveError(error)
  }
}

/** Number of tiles of each zoom that are read to find the formats of a set. */
const SAMPLED_TILES = 8

/** Returns a few tiles of each zoom with tiles. Throws `BrokenArchiveError`. */
export function samplesOf(
  database: DatabaseSyncInstance,
  tiles: TileTable,
  size: number,
): { readonly zooms: readonly number[]; readonly samples: readonly Uint8Array[] } {
  const name = quotedName(tiles.table)
  const sql = `SELECT tile_data FROM main.${name} WHERE zoom_level = ? LIMIT ${SAMPLED_TILES}`
  const statement = prepareQuick(database, sql, { table: tiles.table, by: ['zoom_level'], size })
  const zooms: number[] = []
  const samples: Uint8Array[] = []
  for (const [z, { level }] of [...tiles.zooms].sort(([a], [b]) => a - b)) {
    const found = allRows(statement, level).flatMap(({ tile_data }) =>
      tile_data instanceof Uint8Array ? [tile_data] : [],
    )
    if (found.length === 0) continue
    zooms.push(z)
    samples.push(...found)
  }
  return { zooms, samples }
}

function allRows(statement: StatementSyncInstance, level: number): { tile_data: unknown }[] {
  try {
    return statement.all(level)
  } catch (error) {
    throw asArchiveError(error)
  }
}

function codeOf(database: DatabaseSyncInstance, objects: SchemaObjects, id: number): number {
  if (!has(database, objects, 'gpkg_spatial_ref_sys', SYSTEMS)) return id
  const [row] = rows(database, `SELECT ${SYSTEMS.join()} FROM main.gpkg_spatial_ref_sys WHERE srs_id = ? LIMIT 1`, id)
  return /^epsg$/i.test(String(row?.organization)) ? Number(row?.organization_coordsys_id) : id
}

function has(
  database: DatabaseSyncInstance,
  objects: SchemaObjects,
  table: string,
  columns: readonly string[],
): boolean {
  const stored = plainColumns(database, objects, table)
  return stored !== null && columns.every((column) => stored.get(column)?.isComputed === false)
}

function rows(database: DatabaseSyncInstance, sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
  try {
    return database.prepare(sql).all(...values)
  } catch (error) {
    throw asArchiveError(error)
  }
}

function box({ min_x: minX, min_y: minY, max_x: maxX, max_y: maxY }: Record<string, unknown>): Bounds {
  return [minX, minY, maxX, maxY].map((value) => (typeof value === 'number' ? value : Number.NaN)) as unknown as Bounds
}

/** Maximum length of a name or description in characters. */
const MAX_TEXT = 10_000

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT ? value.trim() : null
}
