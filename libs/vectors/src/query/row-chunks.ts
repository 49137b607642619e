import { quoted, shownColumn } from '../index-file/index-description.js'
import { HAS_ID } from '../index-file/own-id.js'
import type { Sql, SqlValue } from './cql2/compile.js'
import { toCrs } from './crs.js'
import { encoderOf } from './encoders.js'
import { GzipParts } from './gzip-parts.js'
import {
  type After,
  CHUNK_BYTES,
  CHUNK_MS,
  type Chunk,
  type Encoder,
  FIRST_CHUNK_BYTES,
  type ItemsQuery,
  type Row,
  type SqlRow,
} from './items-query.js'

/** Number of columns before those of the fields. */
const FIXED = 4

/** Returns the statement for the rows of a query. */
export function selectRows({ selected, sort, limit, offset, after, id }: ItemsQuery, filter: Sql | null): Sql {
  const columns = [
    ...['fid', 'feature_id', 'geom', 'layer'],
    ...selected.map(shownColumn),
    // A comparison with a column of whole numbers reads their text exactly.
    ...sort.map(({ field }) => shownColumn(field)),
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
  const { selected, sort } = query
  const chunks = new ChunkWriter(query, locatesAll)
  try {
    for (;;) {
      const { value: row, done } = rows.next()
      if (done === true) return yield chunks.end()
      const feature = {
        fid: row[0] as number,
        ownId: row[1] as string | null,
        geometry: row[2] as Uint8Array | null,
        layer: row[3] as string,
      }
      const keys = row.slice(FIXED + selected.length, FIXED + selected.length + sort.length) as After
      const chunk = chunks.add(feature, row.slice(FIXED, FIXED + selected.length), [...keys, row[0] as number])
      if (chunk === null) continue
      yield chunk
      if (chunk.state !== 'going on') return
      chunks.resume()
    }
  } finally {
    rows.return?.()
  }
}

/** Collects the features of a response in parts. */
export class ChunkWriter {
  readonly #query: ItemsQuery
  readonly #encoder: Encoder
  readonly #packer: GzipParts | null
  #parts: Uint8Array[]
  #bytes: number
  #total: number
  #count = 0
  #sent = 0
  #last: (() => After) | null = null
  #isFirst = true
  #startedAt = performance.now()

  /** @param locatesAll true if no feature lacks a geometry */
  constructor(query: ItemsQuery, locatesAll: boolean) {
    this.#query = query
    this.#encoder = encoderOf(query, toCrs(query.crs), locatesAll)
    this.#packer = query.packedAfter === undefined ? null : new GzipParts(query.packedAfter)
    this.#parts = query.continues === true ? [] : [this.#encoder.head()]
    this.#bytes = this.#parts[0]?.length ?? 0
    this.#total = this.#bytes
  }

  /**
   * Adds a feature. Returns a part that is complete, also because the feature does not belong to the response any more; null: nothing is complete.
   * @param position see `Chunk.last`
   */
  add(feature: Row, values: SqlRow, position: After): Chunk | null {
    return this.addText(
      (index) => this.#encoder.feature(feature, values, index),
      () => position,
    )
  }

  /** Adds a feature as bytes. @param textOf see `Encoder.feature` */
  addText(textOf: (index: number) => Uint8Array, position: () => After): Chunk | null {
    const { limit, maxBytes, continues = false } = this.#query
    if (this.#sent === limit) return this.#flush('more')
    const text = textOf(continues ? this.#sent + 1 : this.#sent)
    // The first feature is sent whatever its size, since clients could otherwise never pass it.
    if ((this.#sent > 0 || continues) && this.#total + text.length > maxBytes) return this.#flush('more')
    this.#parts.push(text)
    this.#bytes += text.length
    this.#total += text.length
    this.#count++
    this.#sent++
    this.#last = position
    const isFull = this.#bytes >= (this.#isFirst ? FIRST_CHUNK_BYTES : CHUNK_BYTES)
    return isFull || performance.now() - this.#startedAt > CHUNK_MS ? this.#flush('going on') : null
  }

  /** Begins the time of the next part. */
  resume(): void {
    this.#startedAt = performance.now()
  }

  /** Returns the last part, after all features. */
  end(): Chunk {
    return this.#flush('end')
  }

  #flush(state: Chunk['state']): Chunk {
    const chunk = { bytes: Buffer.concat(this.#parts), count: this.#count, last: this.#last?.() ?? null, state }
    this.#parts = []
    this.#bytes = 0
    this.#count = 0
    this.#isFirst = false
    return this.#packer?.pack(chunk) ?? chunk
  }
}
