import { quoted, shownColumn } from '../index-file/index-description.js'
import { HAS_ID } from '../index-file/own-id.js'
import type { Sql, SqlValue } from './cql2/compile.js'
import { toCrs } from './crs.js'
import { encoderOf } from './encoders.js'
import {
  type After,
  CHUNK_BYTES,
  CHUNK_MS,
  type Chunk,
  FIRST_CHUNK_BYTES,
  type ItemsQuery,
  type SqlRow,
} from './items-query.js'

/** Number of columns before those of the fields. */
const FIXED = 4

/** Returns the statement for the rows of a query. */
export function selectRows({ selected, sort, limit, offset, after, id }: ItemsQuery, filter: Sql | null): Sql {
  const columns = [
    ...['fid', 'feature_id', 'geom', 'layer'],
    ...selected.map(shownColumn),
    ...sort.map(({ field }) => quoted(field.column)),
  ]
  const head = `SELECT ${columns.join(', ')} FROM features`
  if (id !== null) {
    const asFid = /^\d{1,15}$/.test(id) ? Number(id) : -1
    const text = `${head} WHERE fid = coalesce((SELECT fid FROM features WHERE ${HAS_ID}), (SELECT fid FROM features WHERE fid = ?2 AND feature_id IS NULL))`
    if (filter === null) return { text, values: [id, asFid] }
    return { text: `${text} AND (${filter.text})`, values: [id, asFid, ...filter.values] }
  }
  const conditions = [filter, after === null ? null : behind(sort, after)]
  const given = conditions.filter((condition) => condition !== null)
  const where = given.length === 0 ? '' : ` WHERE ${given.map(({ text }) => `(${text})`).join(' AND ')}`
  const order = [...sort.flatMap(orderOf), 'fid'].join(', ')
  return {
    text: `${head}${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
    // One extra row shows if there are more features.
    values: [...given.flatMap(({ values }) => values), limit + 1, offset],
  }
}

/** Sorts features without a value last, in either direction. */
function orderOf({ field, descending }: ItemsQuery['sort'][number]): string[] {
  const column = quoted(field.column)
  return [`${column} IS NULL`, `${column}${descending ? ' DESC' : ''}`]
}

/** Returns the condition for features after the one with these keys, in the order of the query. */
function behind(sort: ItemsQuery['sort'], after: After): Sql {
  const keys = [
    ...sort.map(({ field, descending }) => ({ column: quoted(field.column), descending })),
    { column: 'fid', descending: false },
  ]
  const parts: string[] = []
  const values: SqlValue[] = []
  for (const [i, { column, descending }] of keys.entries()) {
    const value = after[i] ?? null
    // Absent values sort last, so only the following keys can differ.
    if (value === null) continue
    const equal = keys.slice(0, i).map((key) => `${key.column} IS ?`)
    const isLater =
      i === keys.length - 1 ? `${column} > ?` : `(${column} ${descending ? '<' : '>'} ? OR ${column} IS NULL)`
    parts.push([...equal, isLater].join(' AND '))
    values.push(...after.slice(0, i), value)
  }
  return { text: parts.map((part) => `(${part})`).join(' OR '), values }
}

/**
 * Yields the parts of a response whose features are written one by one, from the rows of `selectRows`.
 * @param locatesAll true if no feature lacks a geometry
 */
export function* rowChunks(query: ItemsQuery, rows: Iterator<SqlRow>, locatesAll: boolean): Generator<Chunk, void> {
  const { selected, limit, maxBytes, sort } = query
  const encoder = encoderOf(query, toCrs(query.crs), locatesAll)
  const continues = query.continues === true
  let parts: Uint8Array[] = continues ? [] : [encoder.head()]
  let bytes = parts[0]?.length ?? 0
  let total = bytes
  let count = 0
  let sent = 0
  let last: After | null = null
  let first = true
  let startedAt = performance.now()
  const flush = (state: Chunk['state']): Chunk => {
    const chunk = { bytes: Buffer.concat(parts), count, last, state }
    parts = []
    bytes = 0
    count = 0
    first = false
    return chunk
  }
  try {
    for (;;) {
      const { value: row, done } = rows.next()
      if (done === true) return yield flush('end')
      if (sent === limit) return yield flush('more')
      const feature = encoder.feature(
        {
          fid: row[0] as number,
          ownId: row[1] as string | null,
          geometry: row[2] as Uint8Array | null,
          layer: row[3] as string,
        },
        row.slice(FIXED, FIXED + selected.length),
        continues ? sent + 1 : sent,
      )
      // The first feature is sent whatever its size, since clients could otherwise never pass it.
      if ((sent > 0 || continues) && total + feature.length > maxBytes) return yield flush('more')
      parts.push(feature)
      bytes += feature.length
      total += feature.length
      count++
      sent++
      last = [...(row.slice(FIXED + selected.length, FIXED + selected.length + sort.length) as After), row[0] as number]
      if (bytes >= (first ? FIRST_CHUNK_BYTES : CHUNK_BYTES) || performance.now() - startedAt > CHUNK_MS) {
        yield flush('going on')
        startedAt = performance.now()
      }
    }
  } finally {
    rows.return?.()
  }
}
