import { pathToFileURL } from 'node:url'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import type { IndexField } from '../index-file/index-description.js'
import { type CompileContext, compile, quoted, type Sql, type SqlValue } from './cql2/compile.js'
import type { Geometry } from './cql2/expression.js'
import { toCrs } from './crs.js'
import { encoderOf } from './encoders.js'
import { envelopeOf, geometryOf } from './geometry.js'
import { intersects } from './intersects.js'
import type { After, Chunk, ItemsQuery, SqlRow } from './items-query.js'

/** Number of features in a box up to which the R-tree is faster than a scan of all features. */
const TREE_FEATURES = 50_000
/** Bytes of a part of an answer; the first is smaller, so that it is sent at once: a page of 100 small features is one part. */
const CHUNK_BYTES = 256 * 1024
const FIRST_CHUNK_BYTES = 64 * 1024
/** Limit: statements of an index that are kept for the next query of the same form. */
const MAX_STATEMENTS = 50
/** Milliseconds after which a part is sent although it is small. */
const CHUNK_MS = 100
/** Maximum size of one value in bytes, such as a geometry or a text. */
const MAX_VALUE_BYTES = 256 * 1024 * 1024

type Statement = ReturnType<DatabaseSyncInstance['prepare']>

/** An index that is open for reading. It is not changed while it exists. */
export class OpenIndex {
  readonly #database: DatabaseSyncInstance
  /** geometry literals in the filters of open queries, by the numbers in their SQL */
  readonly #literals = new Map<number, Literal>()
  /** by their text; one that runs is not among them */
  readonly #statements = new Map<string, Statement>()
  readonly #boxCount: Statement
  #lastLiteral = 0
  #running = 0

  constructor(file: string) {
    this.#database = new DatabaseSync(`${pathToFileURL(file).href}?mode=ro&immutable=1`, {
      readOnly: true,
      limits: { length: MAX_VALUE_BYTES, attach: 0 },
    })
    this.#database.exec(
      'PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA case_sensitive_like = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -16000',
    )
    const options = { deterministic: true }
    this.#database.function('gw_casei', options, (text: unknown) => (typeof text === 'string' ? folded(text) : null))
    this.#database.function('gw_intersects', options, (blob: unknown, id: unknown) => this.#intersects(blob, id))
    this.#boxCount = this.#database.prepare(
      'SELECT count(*) AS n FROM (SELECT 1 FROM rtree_features_geom WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ? LIMIT ?)',
    )
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  close(): void {
    this.#database.close()
  }

  /** Yields the parts of a response on demand. Throws the errors of SQLite. */
  *run(query: ItemsQuery): Generator<Chunk, void> {
    const literals: number[] = []
    this.#running++
    try {
      const { text, values } = this.#select(query, literals)
      const statement = this.#take(text)
      yield* chunksOf(query, statement.iterate(...values) as Iterator<SqlRow>)
      if (this.#statements.size < MAX_STATEMENTS) this.#statements.set(text, statement)
    } finally {
      for (const id of literals) this.#literals.delete(id)
      this.#running--
    }
  }

  #take(text: string): Statement {
    const kept = this.#statements.get(text)
    this.#statements.delete(text)
    const statement = kept ?? this.#database.prepare(text)
    statement.setReturnArrays(true)
    return statement
  }

  #select(query: ItemsQuery, literals: number[]): Sql {
    const { selected, sort, limit, offset, after, id } = query
    const columns = [
      'fid',
      'feature_id',
      'geom',
      'layer',
      ...selected.map(shownColumn),
      ...sort.map(({ field }) => quoted(field.column)),
    ]
    const head = `SELECT ${columns.join(', ')} FROM features`
    if (id !== null) {
      const asFid = /^\d{1,15}$/.test(id) ? Number(id) : -1
      const text = `${head} WHERE fid = coalesce((SELECT fid FROM features WHERE feature_id = ?1), (SELECT fid FROM features WHERE fid = ?2 AND feature_id IS NULL))`
      const filter = this.#filter(query, literals)
      if (filter === null) return { text, values: [id, asFid] }
      return { text: `${text} AND (${filter.text})`, values: [id, asFid, ...filter.values] }
    }
    const conditions = [this.#filter(query, literals), after === null ? null : behind(query, after)]
    const given = conditions.filter((condition) => condition !== null)
    const where = given.length === 0 ? '' : ` WHERE ${given.map(({ text }) => `(${text})`).join(' AND ')}`
    const order = [...sort.flatMap(orderOf), 'fid'].join(', ')
    return {
      text: `${head}${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
      // One extra row shows if there are more features.
      values: [...given.flatMap(({ values }) => values), limit + 1, offset],
    }
  }

  #filter({ filter, fields }: ItemsQuery, literals: number[]): Sql | null {
    if (filter === null) return null
    const context: CompileContext = {
      fields: new Map(fields.map((field) => [field.name, field])),
      geometry: (geometry) => {
        const id = ++this.#lastLiteral
        this.#literals.set(id, new Literal(geometry))
        literals.push(id)
        return id
      },
      usesTree: (box) => this.#countInBox(box) <= TREE_FEATURES,
    }
    return compile(filter, context)
  }

  /** Counts up to the relevant limit only. */
  #countInBox([west, south, east, north]: readonly [number, number, number, number]): number {
    return (
      this.#boxCount.get(west, east, south, north, TREE_FEATURES + 1) as {
        n: number
      }
    ).n
  }

  #intersects(blob: unknown, id: unknown): number | null {
    if (!(blob instanceof Uint8Array)) return null
    const literal = this.#literals.get(Number(id))
    return literal === undefined ? null : Number(literal.intersects(blob))
  }
}

/** A geometry of a filter. */
class Literal {
  readonly #geometry: Geometry
  /** west, south, east, north if the geometry is a box */
  readonly #box: readonly [number, number, number, number] | null

  constructor(geometry: Geometry) {
    this.#geometry = geometry
    this.#box = rectangleOf(geometry)
  }

  intersects(blob: Uint8Array): boolean {
    const envelope = envelopeOf(blob)
    if (this.#box !== null && envelope !== null) {
      const [west, south, east, north] = this.#box
      const [minX, minY, maxX, maxY] = envelope
      if (minX > east || maxX < west || minY > north || maxY < south) return false
      if (minX >= west && maxX <= east && minY >= south && maxY <= north) return true
    }
    const geometry = geometryOf(blob, null)
    return geometry !== null && intersects(geometry, this.#geometry)
  }
}

function rectangleOf(geometry: Geometry): readonly [number, number, number, number] | null {
  if (geometry.type !== 'Polygon' || geometry.coordinates.length !== 1) return null
  const ring = geometry.coordinates[0] as readonly (readonly number[])[]
  const [a, b, c, d, e] = ring
  if (ring.length !== 5 || !a || !b || !c || !d || !e) return null
  const isBox = a[1] === b[1] && b[0] === c[0] && c[1] === d[1] && d[0] === a[0] && a[0] === e[0] && a[1] === e[1]
  return isBox ? [a[0] as number, a[1] as number, c[0] as number, c[1] as number] : null
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Selects whole numbers as texts if they may exceed the range of JavaScript. */
function shownColumn({ column, type }: IndexField): string {
  const name = quoted(column)
  return type === 'integer'
    ? `CASE WHEN ${name} NOT BETWEEN -9007199254740991 AND 9007199254740991 THEN CAST(${name} AS TEXT) ELSE ${name} END`
    : name
}

/** Sorts features without a value last, in either direction. */
function orderOf({ field, descending }: ItemsQuery['sort'][number]): string[] {
  const column = quoted(field.column)
  return [`${column} IS NULL`, `${column}${descending ? ' DESC' : ''}`]
}

/** Returns the condition for features after the one with these keys, in the order of the query. */
function behind({ sort }: ItemsQuery, after: After): Sql {
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

/** Number of columns before those of the fields. */
const FIXED = 4

function* chunksOf(query: ItemsQuery, rows: Iterator<SqlRow>): Generator<Chunk, void> {
  const { selected, limit, maxBytes, sort } = query
  const encoder = encoderOf(query, toCrs(query.crs))
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
