import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { flipRow, MAX_ZOOM } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { spread } from '../folder/listing.js'
import { SIGNATURE_BYTES } from '../formats.js'
import { findTileTables, hasMetadataTable, KEY_COLUMNS, type TileTables } from './schema.js'
import { asArchiveError } from './sqlite-error.js'

/** Maximum bytes of a database without an index, which is read completely for each tile. */
export const MAX_UNINDEXED_BYTES = 16 * 1024 * 1024

/** Limits of the metadata table: rows (the standard knows about a dozen), and characters of all their values. */
const MAX_METADATA_ROWS = 1_000
const MAX_METADATA_LENGTH = 32 * 1024 * 1024

/** Finds a tile's data by XYZ. Returns null if there is no such tile. */
export type TileQuery = (z: number, x: number, y: number) => Uint8Array | null

/**
 * Prepares the look-up of tiles in the archive's plain tables. Throws `BrokenArchiveError` for an unknown schema, and
 * for a database larger than `MAX_UNINDEXED_BYTES` without an index.
 */
export function prepareTileQuery(database: DatabaseSyncInstance, size: number, rowsFromNorth = false): TileQuery {
  const tables = findTileTables(database)
  const statement = prepareQuick(database, tileSql(tables), { table: tables.keys, by: KEY_COLUMNS, size })
  return (z, x, y) => dataOf(rowOf(statement, [z, x, rowsFromNorth ? y : flipRow(z, y)])?.tile_data)
}

/** Maximum rows of one zoom that are looked at for one with data: some writers fill the place of a missing tile with an empty value. */
const MAX_EMPTY_ROWS = 1_000

/** Returns the zooms that have tiles, ascending, with the first bytes of one tile of each. */
export function findZooms(
  database: DatabaseSyncInstance,
  size: number,
  startBytes: number,
): { zooms: number[]; samples: Uint8Array[] } {
  const { keys } = findTileTables(database)
  const anyOfZoom = `SELECT tile_column, tile_row FROM main.${keys} WHERE zoom_level = ? LIMIT`
  const first = prepareQuick(database, `${anyOfZoom} 1`, { table: keys, by: ['zoom_level'], size })
  const some = database.prepare(`${anyOfZoom} ${MAX_EMPTY_ROWS}`)
  const query = prepareTileQuery(database, size, true)
  const dataAt = (z: number, row: Record<string, unknown>) => query(z, Number(row.tile_column), Number(row.tile_row))
  const zooms: number[] = []
  const samples: Uint8Array[] = []
  for (let z = 0; z <= MAX_ZOOM; z++) {
    const row = rowOf(first, [z])
    if (row === undefined) continue
    const data = dataAt(z, row) ?? firstOf(rowsOf(some, [z]), (other) => dataAt(z, other))
    if (data === null) continue
    zooms.push(z)
    samples.push(data.slice(0, startBytes))
  }
  return { zooms, samples }
}

function firstOf<T, R>(entries: readonly T[], find: (entry: T) => R | null): R | null {
  for (const entry of entries) {
    const found = find(entry)
    if (found !== null) return found
  }
  return null
}

/** Maximum rows of one column from which a few are chosen. */
const MAX_ROWS_OF_COLUMN = 256

/** Returns some tiles of a zoom, with rows as stored, in evenly spread columns. */
export function someOf(
  database: DatabaseSyncInstance,
  zoom: number,
  limit: number,
): (readonly [z: number, x: number, row: number])[] {
  const { keys } = findTileTables(database)
  const column = `SELECT tile_column AS x FROM main.${keys} WHERE zoom_level = ? AND tile_column >= ?`
  try {
    const next = database.prepare(`${column} ORDER BY tile_column LIMIT 1`)
    const last = database.prepare(`${column} ORDER BY tile_column DESC LIMIT 1`)
    const rows = database.prepare(
      `SELECT tile_row AS y FROM main.${keys} WHERE zoom_level = ? AND tile_column = ? LIMIT ${MAX_ROWS_OF_COLUMN}`,
    )
    const at = (statement: StatementSyncInstance, from: number) => Number(rowOf(statement, [zoom, from])?.x)
    const [from, to] = [at(next, 0), at(last, 0)]
    const steps = Array.from({ length: limit }, (_, i) => at(next, Math.round(from + ((to - from) * i) / (limit - 1))))
    const columns = [...new Set(steps)]
    return columns.flatMap((x) => {
      const found: { y: unknown }[] = rows.all(zoom, x)
      return spread(found, Math.ceil(limit / columns.length)).map(({ y }) => [zoom, x, Number(y)] as const)
    })
  } catch (error) {
    throw asArchiveError(error)
  }
}

/** Limits of further samples: deepest zooms, and tiles of each. */
const SAMPLED_ZOOMS = 3
const SAMPLED_TILES = 8

/** Returns the first bytes of some further tiles, evenly spread over the columns of the deepest zooms, to find the formats of a set. */
export function samplesOf(database: DatabaseSyncInstance, size: number, zooms: readonly number[]): Uint8Array[] {
  const { keys } = findTileTables(database)
  const sql = `SELECT tile_column AS x FROM main.${keys} WHERE zoom_level = ? AND tile_column >= ? ORDER BY tile_column LIMIT 1`
  // Without an index that begins so, each step would read the table.
  const plan: { detail: unknown }[] = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(0, 0)
  if (!plan.every(({ detail }) => /zoom_level=\? AND tile_column>\?/.test(String(detail)))) return []
  const query = prepareTileQuery(database, size, true)
  return zooms.slice(-SAMPLED_ZOOMS).flatMap((z) =>
    someOf(database, z, SAMPLED_TILES).flatMap((place) => {
      const data = query(...place)
      return data === null ? [] : [data.slice(0, SIGNATURE_BYTES)]
    }),
  )
}

/** Yields the addresses of one zoom that have a tile, XYZ. It reads the whole table, so it must not run in a process that serves requests. */
export function* addressesOf(
  database: DatabaseSyncInstance,
  zoom: number,
  rowsFromNorth = false,
): Generator<readonly [x: number, y: number]> {
  const { keys } = findTileTables(database)
  try {
    const rows = database.prepare(`SELECT tile_column AS x, tile_row AS y FROM main.${keys} WHERE zoom_level = ?`)
    for (const row of rows.iterate(zoom) as Iterable<{ x: unknown; y: unknown }>) {
      yield [Number(row.x), rowsFromNorth ? Number(row.y) : flipRow(zoom, Number(row.y))]
    }
  } catch (error) {
    throw asArchiveError(error)
  }
}

/** Returns the metadata table as a record, or null if it is not usable. */
export function readMetadataTable(database: DatabaseSyncInstance): Record<string, unknown> | null {
  try {
    if (!hasMetadataTable(database)) return null
    // Row by row, because the library's error does not distinguish a damaged page from a failing disk during an iteration.
    return collect(database.prepare('SELECT name, value FROM main.metadata LIMIT 1 OFFSET ?'))
  } catch (error) {
    const known = asArchiveError(error)
    if (known instanceof BrokenArchiveError) return null
    throw known
  }
}

/** Not a join: of many rows with one address only the first is followed, whether or not it leads to data. */
function tileSql({ keys, data }: TileTables): string {
  const at = 'WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3 LIMIT 1'
  if (data === null) return `SELECT tile_data FROM main.${keys} ${at}`
  const conditions = data.by.map((column) =>
    column === 'zoom_level' ? 'zoom_level = ?1' : `${column} = (SELECT ${column} FROM main.${keys} ${at})`,
  )
  return `SELECT tile_data FROM main.${data.table} WHERE ${conditions.join(' AND ')} LIMIT 1`
}

/** Prepares a look-up by these columns, which must use an index unless the database is small. */
export function prepareQuick(
  database: DatabaseSyncInstance,
  sql: string,
  { table, by, size }: { table: string; by: readonly string[]; size: number },
): StatementSyncInstance {
  const parameters = Array.from({ length: new Set(sql.match(/\?\d?/g)).size }, () => 0)
  const isSlow = (step: string) =>
    step.startsWith('SCAN ') ||
    (step.startsWith(`SEARCH ${table} `) && !by.every((column) => step.includes(`${column}=?`)))
  try {
    const rows: { detail: unknown }[] = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters)
    if (size > MAX_UNINDEXED_BYTES && rows.some((row) => isSlow(String(row.detail)))) {
      throw new BrokenArchiveError('the archive has no index on zoom_level, tile_column and tile_row')
    }
    return database.prepare(sql)
  } catch (error) {
    throw asArchiveError(error)
  }
}

export function rowOf(statement: StatementSyncInstance, parameters: number[]): Record<string, unknown> | undefined {
  try {
    return statement.get(...parameters)
  } catch (error) {
    throw asArchiveError(error)
  }
}

function rowsOf(statement: StatementSyncInstance, parameters: number[]): Record<string, unknown>[] {
  try {
    return statement.all(...parameters)
  } catch (error) {
    throw asArchiveError(error)
  }
}

function dataOf(data: unknown): Uint8Array | null {
  if (data === undefined || data === null) return null
  const bytes = data instanceof Uint8Array ? data : Buffer.from(String(data))
  return bytes.length === 0 ? null : bytes
}

function collect(statement: StatementSyncInstance): Record<string, unknown> {
  const fields: [string, unknown][] = []
  let length = 0
  for (let i = 0; i < MAX_METADATA_ROWS; i++) {
    const row: { name: unknown; value: unknown } | undefined = statement.get(i)
    if (row === undefined) break
    const value = row.value instanceof Uint8Array ? Buffer.from(row.value).toString('utf8') : row.value
    length += typeof value === 'string' ? value.length : 0
    if (length > MAX_METADATA_LENGTH) break
    fields.push([String(row.name), value])
  }
  return Object.fromEntries(fields)
}
