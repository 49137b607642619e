import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { MAX_ZOOM } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { asArchiveError } from './sqlite-error.js'

/** Limit: a table without an index is read through for each tile, which is bearable up to this many bytes of database. */
const MAX_UNINDEXED_BYTES = 16 * 1024 * 1024

/** Limits of the metadata table: rows (the standard knows about a dozen), and characters of all their values. */
const MAX_METADATA_ROWS = 1_000
const MAX_METADATA_LENGTH = 32 * 1024 * 1024

const TILE = `SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? LIMIT 1`
const TILE_OF_ZOOM = `SELECT tile_data FROM tiles WHERE zoom_level = ? LIMIT 1`
const METADATA = `SELECT name, value FROM metadata LIMIT ${MAX_METADATA_ROWS}`

/** Finds a tile's data by zoom, column and row as stored (TMS); null: no such tile. */
export type TileQuery = (z: number, column: number, row: number) => Uint8Array | null

/**
 * Prepares the look-up of tiles. Refuses a schema whose look-up would hold the process: an endless view, or no index in a database
 * larger than `MAX_UNINDEXED_BYTES`. Throws `BrokenArchiveError`.
 */
export function prepareTileQuery(database: DatabaseSyncInstance, size: number): TileQuery {
  refuseEndless(database, TILE, size)
  const statement = prepare(database, TILE)
  return (z, column, row) => dataOf(statement, [z, column, row])
}

/** Any tile of the deepest zoom, and the zooms that have tiles, ascending. */
export function findZooms(
  database: DatabaseSyncInstance,
  size: number,
): { zooms: number[]; sample: Uint8Array | null } {
  refuseEndless(database, TILE_OF_ZOOM, size)
  const statement = prepare(database, TILE_OF_ZOOM)
  const zooms: number[] = []
  let sample: Uint8Array | null = null
  for (let z = 0; z <= MAX_ZOOM; z++) {
    const data = dataOf(statement, [z])
    if (data === null) continue
    zooms.push(z)
    sample = data
  }
  return { zooms, sample }
}

/** The metadata table as a record; null: there is no usable one. */
export function readMetadataTable(database: DatabaseSyncInstance, size: number): Record<string, unknown> | null {
  try {
    refuseEndless(database, METADATA, size)
    return collect(prepare(database, METADATA))
  } catch (error) {
    const known = asArchiveError(error)
    if (known instanceof BrokenArchiveError) return null
    throw known
  }
}

function prepare(database: DatabaseSyncInstance, sql: string): StatementSyncInstance {
  try {
    return database.prepare(sql)
  } catch (error) {
    throw asArchiveError(error)
  }
}

function dataOf(statement: StatementSyncInstance, parameters: number[]): Uint8Array | null {
  let row: { tile_data?: unknown } | undefined
  try {
    row = statement.get(...parameters)
  } catch (error) {
    throw asArchiveError(error)
  }
  const data = row?.tile_data
  if (data === undefined || data === null) return null
  const bytes = data instanceof Uint8Array ? data : Buffer.from(String(data))
  return bytes.length === 0 ? null : bytes
}

function collect(statement: StatementSyncInstance): Record<string, unknown> {
  const fields: [string, unknown][] = []
  let length = 0
  for (const row of statement.iterate() as Iterable<{ name: unknown; value: unknown }>) {
    const value = row.value instanceof Uint8Array ? Buffer.from(row.value).toString('utf8') : row.value
    length += typeof value === 'string' ? value.length : 0
    if (length > MAX_METADATA_LENGTH) break
    fields.push([String(row.name), value])
  }
  return Object.fromEntries(fields)
}

/** The plan tells what a view hides, so it is asked rather than the view's text. */
function refuseEndless(database: DatabaseSyncInstance, sql: string, size: number): void {
  const parameters = Array.from(sql.matchAll(/\?/g), () => 0)
  let steps: string[]
  try {
    const rows: { detail: unknown }[] = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters)
    steps = rows.map((row) => String(row.detail))
  } catch (error) {
    throw asArchiveError(error)
  }
  if (steps.some((step) => step.startsWith('RECURSIVE')))
    throw new BrokenArchiveError('a view of the archive is recursive')
  const scans = steps.filter((step) => step.startsWith('SCAN') || step.includes(' AUTOMATIC ')).length
  if (scans > 1) throw new BrokenArchiveError('a view of the archive joins tables without an index')
  if (scans === 1 && sql !== METADATA && size > MAX_UNINDEXED_BYTES) {
    throw new BrokenArchiveError('the archive has no index on zoom_level, tile_column and tile_row')
  }
}
