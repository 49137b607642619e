import type Database from 'libsql'
import { MAX_ZOOM } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { asArchiveError } from './sqlite-error.js'

/** Limit: bytes of one tile. SQLite hands tiles over whole, in memory; the largest vector tiles of practice have some megabytes. */
const MAX_TILE_BYTES = 32 * 1024 * 1024

/** Limit: a table without an index is read through for each tile, which is bearable up to this many bytes of database. */
const MAX_UNINDEXED_BYTES = 16 * 1024 * 1024

/** Limits of the metadata table: rows, and bytes of one value. */
const MAX_METADATA_ROWS = 1_000
const MAX_METADATA_VALUE = 16 * 1024 * 1024

const TILE = `SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?
  AND length(tile_data) BETWEEN 1 AND ${MAX_TILE_BYTES} LIMIT 1`
const TILE_OF_ZOOM = `SELECT tile_data FROM tiles WHERE zoom_level = ?
  AND length(tile_data) BETWEEN 1 AND ${MAX_TILE_BYTES} LIMIT 1`
const METADATA = `SELECT name, value FROM metadata WHERE length(value) <= ${MAX_METADATA_VALUE} LIMIT ${MAX_METADATA_ROWS}`

/** Finds a tile's data by zoom, column and row as stored (TMS); null: no such tile. */
export type TileQuery = (z: number, column: number, row: number) => Uint8Array | null

/**
 * Prepares the look-up of tiles. Refuses a schema whose look-up would hold the process: an endless view, or no index in a database
 * larger than `MAX_UNINDEXED_BYTES`. Throws `BrokenArchiveError`.
 */
export function prepareTileQuery(database: Database.Database, size: number): TileQuery {
  refuseEndless(database, TILE, size)
  const statement = prepare(database, TILE)
  return (z, column, row) => dataOf(statement, [z, column, row])
}

/** Any tile of the deepest zoom, and the zooms that have tiles, ascending. */
export function findZooms(database: Database.Database, size: number): { zooms: number[]; sample: Uint8Array | null } {
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
export function readMetadataTable(database: Database.Database, size: number): Record<string, unknown> | null {
  try {
    refuseEndless(database, METADATA, size)
    const rows = prepare(database, METADATA).all() as unknown as [unknown, unknown][]
    return Object.fromEntries(rows.map(([name, value]) => [String(name), textOf(value)]))
  } catch (error) {
    const known = asArchiveError(error)
    if (known instanceof BrokenArchiveError) return null
    throw known
  }
}

function prepare(database: Database.Database, sql: string): Database.Statement {
  try {
    return database.prepare(sql).raw()
  } catch (error) {
    throw asArchiveError(error)
  }
}

function dataOf(statement: Database.Statement, parameters: number[]): Uint8Array | null {
  let row: unknown
  try {
    row = statement.get(...parameters)
  } catch (error) {
    throw asArchiveError(error)
  }
  if (row === undefined) return null
  const data: unknown = (row as unknown[])[0]
  return data instanceof Uint8Array ? data : Buffer.from(String(data))
}

function textOf(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value
}

/** The plan tells what a view hides, so it is asked rather than the view's text. */
function refuseEndless(database: Database.Database, sql: string, size: number): void {
  const parameters = Array.from(sql.matchAll(/\?/g), () => 0)
  let steps: string[]
  try {
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: unknown }[]
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
