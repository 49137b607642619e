import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { isInPyramid } from '../address.js'
import type { ZoomExtent } from '../folder/extent.js'
import { spread, WIDEST } from '../folder/listing.js'
import { MAX_UNINDEXED_BYTES, rowOf } from './queries.js'
import { findTileTables } from './schema.js'
import { asArchiveError } from './sqlite-error.js'

/** Maximum number of columns of one zoom whose rows are queried. Each takes three steps down an index. */
const MAX_COLUMNS = 64

/** Columns and rows as stored. */
export interface StoredRange extends ZoomExtent {
  /** 1 if some have numbers outside of this zoom in every supported grid, otherwise 0 */
  readonly beyond: number
}

/**
 * Returns the columns and rows of the zooms. A small archive is read completely. For a large one, an index by zoom, column and
 * row tells; without such an index they stay unknown.
 * @param keys the table, as a word of SQL
 */
export function rangesOf(
  database: DatabaseSyncInstance,
  size: number,
  zooms: readonly number[],
  { keys }: { readonly keys: string } = findTileTables(database),
): StoredRange[] {
  try {
    return size <= MAX_UNINDEXED_BYTES ? readThrough(database, keys) : byIndex(database, keys, zooms)
  } catch (error) {
    throw asArchiveError(error)
  }
}

function readThrough(database: DatabaseSyncInstance, keys: string): StoredRange[] {
  const sql = `SELECT zoom_level AS z, min(tile_column) AS a, max(tile_column) AS b, min(tile_row) AS c, max(tile_row) AS d
    FROM main.${keys} GROUP BY zoom_level ORDER BY zoom_level`
  const rows: Record<string, unknown>[] = database.prepare(sql).all()
  return rows.flatMap(({ z, a, b, c, d }) => toRange(Number(z), [a, b, c, d].map(Number), true))
}

function byIndex(database: DatabaseSyncInstance, keys: string, zooms: readonly number[]): StoredRange[] {
  const column = (order: 'ASC' | 'DESC', from: string) =>
    `SELECT tile_column AS n FROM main.${keys} WHERE zoom_level = ? ${from} ORDER BY tile_column ${order} LIMIT 1`
  const row = (order: 'ASC' | 'DESC') =>
    `SELECT tile_row AS n FROM main.${keys} WHERE zoom_level = ? AND tile_column = ? ORDER BY tile_row ${order} LIMIT 1`
  const next = column('ASC', 'AND tile_column >= ?')
  if (!isByIndex(database, next, 'tile_column>?') || !isByIndex(database, row('ASC'), 'tile_column=?')) return []
  const ask = {
    last: database.prepare(column('DESC', '')),
    next: database.prepare(next),
    low: database.prepare(row('ASC')),
    high: database.prepare(row('DESC')),
  }
  return zooms.flatMap((z) => {
    const [first, last] = [numberOf(ask.next, [z, 0]), numberOf(ask.last, [z])]
    const columns = columnsOf(ask.next, z, first, last)
    const looked = spread([...columns], MAX_COLUMNS)
    const low = looked.map((x) => numberOf(ask.low, [z, x]))
    const high = looked.map((x) => numberOf(ask.high, [z, x]))
    return toRange(z, [first, last, Math.min(...low), Math.max(...high)], columns.size <= MAX_COLUMNS)
  })
}

/** Returns all columns if there are few; otherwise some that are evenly spread, one more than `MAX_COLUMNS`. */
function columnsOf(next: StatementSyncInstance, z: number, first: number, last: number): Set<number> {
  const columns = new Set<number>()
  for (let x = first; x <= last && columns.size <= MAX_COLUMNS; x++) {
    x = numberOf(next, [z, x])
    if (!Number.isInteger(x)) break
    columns.add(x)
  }
  if (columns.size <= MAX_COLUMNS) return columns
  const even = Array.from({ length: MAX_COLUMNS + 1 }, (_, i) =>
    numberOf(next, [z, Math.round(first + ((last - first) * i) / MAX_COLUMNS)]),
  )
  return new Set([...even, ...columns])
}

function numberOf(statement: StatementSyncInstance, parameters: number[]): number {
  return Number(rowOf(statement, parameters)?.n ?? Number.NaN)
}

function isByIndex(database: DatabaseSyncInstance, sql: string, condition: string): boolean {
  const rows: { detail: unknown }[] = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(0, 0)
  return rows.every(({ detail }) => !/TEMP B-TREE|^SCAN /.test(String(detail)) && String(detail).includes(condition))
}

function toRange(z: number, numbers: readonly number[], complete: boolean): StoredRange[] {
  const [minColumn, maxColumn, minRow, maxRow] = numbers as [number, number, number, number]
  if (!numbers.every((n) => Number.isInteger(n) && n >= 0)) return []
  const beyond = isInPyramid(z, maxColumn, maxRow, WIDEST) ? 0 : 1
  return [{ z, complete, minColumn, maxColumn, minRow, maxRow, beyond }]
}
