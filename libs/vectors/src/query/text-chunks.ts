import type { FeatureTexts } from '../index-file/index-description.js'
import type { Sql, SqlValue } from './cql2/compile.js'
import { GzipParts } from './gzip-parts.js'
import { CHUNK_BYTES, CHUNK_MS, type Chunk, FIRST_CHUNK_BYTES, type ItemsQuery } from './items-query.js'

/** A search that takes less time finds more features at a time, and one that takes more finds fewer, in ms. */
const QUICK_MS = 10
const SLOW_MS = 50
const GROWTH = 4
const COMMA = Buffer.from(',')

/** A compiled filter. */
export interface Filter {
  /** null: all features match */
  readonly condition: Sql | null
  /** true if it reads columns of `features` other than the geometry */
  readonly hasColumns: boolean
  /** true if the R-tree or the folded texts find the candidates, so that a search does not scan all features */
  readonly usesTree: boolean
}

/** Number of features, number of their texts, the largest fid, bytes of its text, all texts with commas between them. */
export type TextRow = readonly [number, number, number | null, number | null, Uint8Array | null]

/** Returns the statement for the next features after a fid. Its last parameters are that fid, a limit and an offset. */
export function selectTexts({ condition, hasColumns }: Filter): string {
  const [table, text] = hasColumns
    ? ['features', '(SELECT text FROM feature_texts WHERE feature_texts.fid = features.fid)']
    : ['feature_texts', 'text']
  const where = `${condition === null ? '' : `(${condition.text}) AND `}fid > ?`
  // length() is that of the row with the largest fid: SQLite defines bare columns next to max().
  return `SELECT count(*), count(text), max(fid), length(text), CAST(group_concat(text, ',') AS BLOB)
    FROM (SELECT fid, ${text} AS text FROM ${table} WHERE ${where} ORDER BY fid LIMIT ? OFFSET ?)`
}

/**
 * Yields the parts of a response that SQLite concatenates from the texts of the features, in the order of their fid. Returns the rest of the query
 * if a feature has no text, or null at the end.
 */
export function* textChunks(
  query: ItemsQuery,
  { longest, mean }: FeatureTexts,
  { condition, usesTree }: Filter,
  search: (after: SqlValue, limit: SqlValue, offset: SqlValue) => TextRow,
): Generator<Chunk, ItemsQuery | null> {
  const { limit, maxBytes, continues = false } = query
  let after = Number(query.after?.[0] ?? 0)
  let { offset } = query
  // Fids are consecutive from 1.
  if (condition === null) [after, offset] = [after + offset, 0]
  let atOnce = condition === null || usesTree ? Number.POSITIVE_INFINITY : 1
  let parts: Uint8Array[] = []
  let [count, bytes, sent, total] = [0, 0, 0, 0]
  let target = FIRST_CHUNK_BYTES
  let startedAt = performance.now()
  const packer = query.packedAfter === undefined ? null : new GzipParts(query.packedAfter)
  const flush = (state: Chunk['state']): Chunk => {
    const chunk = { bytes: Buffer.concat(parts), count, last: sent === 0 ? null : [after], state }
    parts = []
    count = 0
    bytes = 0
    target = CHUNK_BYTES
    return packer?.pack(chunk) ?? chunk
  }
  for (;;) {
    const fitting = Math.floor((maxBytes - total) / (longest + COMMA.length))
    // The first feature is sent whatever its size, since clients could otherwise never pass it.
    if (fitting < 1 && (sent > 0 || continues)) {
      yield flush('more')
      return null
    }
    const wanted = Math.max(1, Math.floor((target - bytes) / (mean + COMMA.length)))
    const most = Math.min(limit - sent, Math.max(1, fitting), wanted, atOnce)
    const isLast = most === limit - sent
    const searchedAt = performance.now()
    // One extra feature shows if there are more.
    const [found, texts, largest, lastLength, text] = search(after, isLast ? most + 1 : most, offset)
    const took = performance.now() - searchedAt
    if (texts < found) {
      if (count > 0) yield flush('going on')
      const rest = { after: after === 0 ? null : [after], offset, limit: limit - sent, maxBytes: maxBytes - total }
      return { ...query, ...rest, continues: continues || sent > 0, packedAfter: packer?.sum }
    }
    const hasMore = found > most
    const taken = hasMore ? most : found
    if (taken > 0 && text !== null && largest !== null) {
      if (sent > 0 || continues) parts.push(COMMA)
      parts.push(hasMore ? text.subarray(0, -(Number(lastLength) + COMMA.length)) : text)
      bytes += text.length
      total += text.length
      count += taken
      sent += taken
      // The feature that was not taken is the next one after this position.
      after = hasMore ? largest - 1 : largest
      offset = 0
    }
    if (hasMore || found < most || isLast) {
      yield flush(hasMore ? 'more' : 'end')
      return null
    }
    if (bytes >= target / 2 || performance.now() - startedAt > CHUNK_MS) {
      yield flush('going on')
      startedAt = performance.now()
    }
    if (took < QUICK_MS) atOnce *= GROWTH
    else if (took > SLOW_MS) atOnce = Math.max(1, Math.floor(atOnce / GROWTH))
  }
}
