import { pathToFileURL } from 'node:url'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { type FeatureTexts, quoted } from '../index-file/index-description.js'
import {
  type CompileContext,
  compile,
  OF_FEATURES,
  OF_TEXTS,
  type RestOf,
  type Sql,
  type SqlValue,
} from './cql2/compile.js'
import type { Geometry } from './cql2/expression.js'
import { ANY_TEXT, folded, withoutAccents } from './cql2/folding.js'
import { boxOf, envelopeOf, geometryOf, isAtHeight, isBox } from './geometry.js'
import { intersects } from './intersects.js'
import type { Chunk, ItemsQuery, SqlRow } from './items-query.js'
import { rowChunks, selectRows } from './row-chunks.js'
import { type Filter, selectTexts, type TextRow, textChunks } from './text-chunks.js'

/** Number of features in a box up to which the R-tree is faster than a scan of all features. */
const TREE_FEATURES = 50_000
/** Number of features up to which a search of the folded texts is faster than folding the texts of features until a page is full. */
const FOLDED_FEATURES = 50_000
/** Mapped bytes of an index: a quarter less processor time for a box than by reading pages. Indexes are never changed, so no page vanishes. */
const MAPPED_BYTES = 2 ** 31 - 1
/** Limit: statements of an index that are kept for the next query of the same form. */
const MAX_STATEMENTS = 50
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
  #locatesAll: boolean | null = null
  #foldedColumns: ReadonlySet<string> | null = null
  #unaccentedColumns: ReadonlySet<string> | null = null
  readonly #foldedFeatures: number

  /** @param foldedFeatures a lower limit than `FOLDED_FEATURES` */
  constructor(file: string, foldedFeatures = FOLDED_FEATURES) {
    this.#foldedFeatures = foldedFeatures
    this.#database = new DatabaseSync(`${pathToFileURL(file).href}?mode=ro&immutable=1`, {
      readOnly: true,
      limits: { length: MAX_VALUE_BYTES, attach: 0 },
    })
    this.#database.exec(
      'PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA case_sensitive_like = ON; PRAGMA cache_size = -16000',
    )
    this.#database.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
    const options = { deterministic: true }
    const ofTexts = (change: (text: string) => string) => (value: unknown) =>
      typeof value === 'string' ? change(value) : null
    this.#database.function('gw_casei', options, ofTexts(folded))
    this.#database.function('gw_accenti', options, ofTexts(withoutAccents))
    this.#database.function('gw_intersects', options, (blob: unknown, id: unknown) => this.#intersects(blob, id))
    this.#database.function('gw_at_height', options, (blob: unknown, bottom: unknown, top: unknown) => {
      const geometry = blob instanceof Uint8Array ? geometryOf(blob, null) : null
      return Number(geometry === null || isAtHeight(geometry, Number(bottom), Number(top)))
    })
    this.#boxCount = this.#database.prepare(
      'SELECT count(*) AS n FROM (SELECT 1 FROM rtree_features_geom WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ? LIMIT ?)',
    )
  }

  /** Columns of `features` whose texts are folded in `folded_texts`; an index of an earlier release has none. */
  get #folded(): ReadonlySet<string> {
    this.#foldedColumns ??= this.#columnsOf('folded_texts')
    return this.#foldedColumns
  }

  /** Those whose accents are gone in `unaccented_texts`; an index of an earlier release has none. */
  get #unaccented(): ReadonlySet<string> {
    this.#unaccentedColumns ??= this.#columnsOf('unaccented_texts')
    return this.#unaccentedColumns
  }

  #columnsOf(table: string): ReadonlySet<string> {
    const columns = this.#database.prepare('SELECT name FROM pragma_table_info(?)').all(table)
    return new Set(columns.map(({ name }) => String(name)))
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  close(): void {
    this.#database.close()
  }

  /** True if every feature has a geometry that is not empty: only those are in the tree, and identifiers are consecutive. */
  get locatesAll(): boolean {
    this.#locatesAll ??=
      this.#database
        .prepare(
          'SELECT (SELECT count(*) FROM rtree_features_geom_rowid) = (SELECT coalesce(max(fid), 0) FROM features) AS same',
        )
        .get()?.same === 1
    return this.#locatesAll
  }

  /** Yields the parts of a response on demand. Throws the errors of SQLite. */
  *run(query: ItemsQuery): Generator<Chunk, void> {
    const literals: number[] = []
    this.#running++
    try {
      if (query.texts === null) yield* this.#rowChunks(query, literals)
      else yield* this.#textChunks(query, query.texts, literals)
    } finally {
      for (const id of literals) this.#literals.delete(id)
      this.#running--
    }
  }

  *#rowChunks(query: ItemsQuery, literals: number[]): Generator<Chunk, void> {
    const { text, values } = selectRows(query, this.#filter(query, literals, OF_FEATURES).condition)
    const statement = this.#take(text)
    const locatesAll = query.format === 'fgb' && this.locatesAll
    yield* rowChunks(query, statement.iterate(...values) as Iterator<SqlRow>, locatesAll)
    this.#keep(text, statement)
  }

  *#textChunks(query: ItemsQuery, texts: FeatureTexts, literals: number[]): Generator<Chunk, void> {
    let filter = this.#filter(query, literals, OF_TEXTS)
    if (filter.hasColumns) filter = this.#filter(query, literals, OF_FEATURES)
    const text = selectTexts(filter)
    const statement = this.#take(text)
    const piece = (...values: readonly SqlValue[]) =>
      statement.get(...(filter.condition?.values ?? []), ...values) as unknown as TextRow
    const rest = yield* textChunks(query, texts, filter, piece)
    this.#keep(text, statement)
    if (rest !== null) yield* this.#rowChunks(rest, literals)
  }

  #take(text: string): Statement {
    const kept = this.#statements.get(text)
    this.#statements.delete(text)
    const statement = kept ?? this.#database.prepare(text)
    statement.setReturnArrays(true)
    return statement
  }

  #keep(text: string, statement: Statement): void {
    if (this.#statements.size < MAX_STATEMENTS) this.#statements.set(text, statement)
  }

  #filter({ filter, fields }: ItemsQuery, literals: number[], geom: CompileContext['geom']): Filter {
    if (filter === null) return { condition: null, hasColumns: false, usesTree: false }
    let [hasColumns, usesTree] = [false, false]
    const condition = compile(filter, {
      fields: new Map(fields.map((field) => [field.name, field])),
      geom,
      onColumn: () => {
        hasColumns = true
      },
      geometry: (geometry) => {
        const id = ++this.#lastLiteral
        this.#literals.set(id, new Literal(geometry))
        literals.push(id)
        return id
      },
      findFolded: (column, condition, exact, rest) => {
        const found = this.#findFolded(column, condition, exact)
        const fids = found ?? (rest === null ? null : this.#findRest(column, condition, rest))
        usesTree ||= fids !== null
        return fids === null ? null : { fids, isRest: found === null }
      },
      hasAny: (box) => this.#countInBox(box, 1) > 0,
      usesTree: (box) => {
        const isFew = this.#countInBox(box, TREE_FEATURES + 1) <= TREE_FEATURES
        usesTree ||= isFew
        return isFew
      },
    })
    return { condition, hasColumns, usesTree }
  }

  #findFolded(column: string, { text, values }: Sql, exact: Sql | null): readonly number[] | null {
    if (!(exact === null ? this.#folded : this.#unaccented).has(column)) return null
    const folded = `SELECT fid FROM folded_texts WHERE ${text}`
    // A text that has no accents is in the first table only.
    const search =
      exact === null
        ? { text: folded, values }
        : {
            text: `SELECT fid FROM features WHERE fid IN (${folded} UNION SELECT fid FROM unaccented_texts WHERE ${text} OR ${quoted(column)} = ?) AND ${exact.text}`,
            values: [...values, ...values, ANY_TEXT, ...exact.values],
          }
    return this.#fids(search)
  }

  /** Finds the features whose text does not match. */
  #findRest(column: string, { text, values }: Sql, rest: RestOf): readonly number[] | null {
    if (!(rest === 'folded' ? this.#folded : this.#unaccented).has(column)) return null
    if (rest === 'folded') return this.#fids({ text: `SELECT fid FROM folded_texts WHERE NOT (${text})`, values })
    const name = quoted(column)
    const depends = this.#database.prepare(`SELECT 1 FROM unaccented_texts WHERE ${name} = ? LIMIT 1`).get(ANY_TEXT)
    if (depends !== undefined) return null
    const texts = `SELECT f.fid AS fid, coalesce(u.${name}, f.${name}) AS ${name} FROM folded_texts f LEFT JOIN unaccented_texts u USING (fid)`
    return this.#fids({ text: `SELECT fid FROM (${texts}) WHERE NOT (${text})`, values })
  }

  #fids({ text, values }: Sql): readonly number[] | null {
    const most = this.#foldedFeatures
    const found = this.#database.prepare(`${text} LIMIT ?`).all(...values, most + 1) as { fid: number }[]
    return found.length > most ? null : found.map(({ fid }) => fid)
  }

  /** Counts up to a limit only. */
  #countInBox([west, south, east, north]: readonly [number, number, number, number], limit: number): number {
    return (
      this.#boxCount.get(west, east, south, north, limit) as {
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
    this.#box = isBox(geometry) ? boxOf(geometry) : null
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
