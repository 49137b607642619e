import { readBasemapSizes, readBasemaps } from '@gateway/store/basemaps.js'
import { type ChangesSince, changesSince, currentState, type StoreState } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { readSigningSecrets } from '@gateway/store/signing-keys.js'
import { readServedFonts, readStyleSizes, readStyles } from '@gateway/store/styles.js'
import { readVectorSizes, readVectors } from '@gateway/store/vectors.js'
import type { ReplicaReads } from './replica-reads.js'
import { QUERY_TIMEOUT_MS, type StoreLink, StoreTimeout } from './store-link.js'

type Codes = readonly string[]

/** All reads of the store that are needed to follow it. `about` is a known state, or codes (null: all). */
const READS = {
  state: (sql: Sql, _: null) => currentState(sql),
  changes: (sql: Sql, known: StoreState) => changesSince(sql, known),
  basemapSizes: (sql: Sql, codes: Codes | null) => readBasemapSizes(sql, codes),
  basemaps: (sql: Sql, codes: Codes) => readBasemaps(sql, codes),
  vectorSizes: (sql: Sql, codes: Codes | null) => readVectorSizes(sql, codes),
  vectors: (sql: Sql, codes: Codes) => readVectors(sql, codes),
  styleSizes: (sql: Sql, codes: Codes | null) => readStyleSizes(sql, codes),
  styles: (sql: Sql, codes: Codes) => readStyles(sql, codes),
  fonts: (sql: Sql, _: null) => readServedFonts(sql),
  signingSecrets: (sql: Sql, _: null) => readSigningSecrets(sql),
}

export type What = keyof typeof READS

/** The reads that a replica may answer: rows of the catalog. The log is read from the store itself. */
const ROWS: ReadonlySet<What> = new Set([
  'basemapSizes',
  'basemaps',
  'vectorSizes',
  'vectors',
  'styleSizes',
  'styles',
  'fonts',
])
export type About<W extends What> = Parameters<(typeof READS)[W]>[1]
export type Answer<W extends What> = Awaited<ReturnType<(typeof READS)[W]>>

/** The result of a read, and the times before and after it; milliseconds of performance.now(). */
export interface Dated<T> {
  readonly value: T
  readonly askedAt: number
  readonly answeredAt: number
}

export interface CatalogReader {
  /**
   * Rejects if the store is unreachable.
   * @param notBefore results that were requested before this time are too old
   */
  read<W extends What>(what: W, about: About<W>, notBefore: number): Promise<Dated<Answer<W>>>
}

/**
 * Limit: rows in one page. A single page takes some 30 ms; if a hundred processes read at once, a second or two, and tokens that were
 * disabled meanwhile are looked for between pages.
 */
export const PAGE_ROWS = 500
/** Additional time in ms for each row on a machine with many concurrent readers. */
const ROW_TIMEOUT_MS = 5
/** Time-out in ms for the list of a hundred thousand codes, which takes a second on an idle machine. */
const SIZES_TIMEOUT_MS = 10_000

/** Returns the time-out of a read in ms: it depends on the size of the result, and exceeds QUERY_TIMEOUT_MS only for pages. */
export function readTimeoutMs(what: What): number {
  if (what === 'basemaps' || what === 'vectors' || what === 'styles')
    return QUERY_TIMEOUT_MS + PAGE_ROWS * ROW_TIMEOUT_MS
  return what === 'basemapSizes' || what === 'vectorSizes' || what === 'styleSizes'
    ? SIZES_TIMEOUT_MS
    : QUERY_TIMEOUT_MS
}

/** Limit: time in ms to which the time-out of a read grows after late reads; the store gives up then. */
export const LONGEST_TIMEOUT_MS = 15_000

/**
 * Reads with its own queries. Each late query doubles the time-out of the next: on a busy machine the same query would be late every time.
 */
export class StoreReader implements CatalogReader {
  readonly #store: StoreLink
  readonly #rows: Pick<ReplicaReads, 'query'>
  #patience = 1
  #newest: StoreState | null = null

  /** @param rows reads the catalog's rows; the log is read from the store itself, which decides which state is current */
  constructor(store: StoreLink, rows: Pick<ReplicaReads, 'query'> = store) {
    this.#store = store
    this.#rows = rows
  }

  /** Newest state of the log that this reader has read; null if it has read none. */
  get newest(): StoreState | null {
    return this.#newest
  }

  async read<W extends What>(what: W, about: About<W>): Promise<Dated<Answer<W>>> {
    const askedAt = performance.now()
    const run = READS[what] as (sql: Sql, about: About<W>) => Promise<Answer<W>>
    const limit = Math.min(LONGEST_TIMEOUT_MS, readTimeoutMs(what) * this.#patience)
    try {
      const from = ROWS.has(what) ? this.#rows : this.#store
      const value = await from.query((sql) => run(sql, about), limit)
      this.#patience = 1
      this.#note(what, value)
      return { value, askedAt, answeredAt: performance.now() }
    } catch (error) {
      if (error instanceof StoreTimeout && limit < LONGEST_TIMEOUT_MS) this.#patience *= 2
      throw error
    }
  }

  #note(what: What, value: unknown): void {
    const state = what === 'state' ? (value as StoreState) : what === 'changes' ? (value as ChangesSince).state : null
    const known = this.#newest
    if (state === null) return
    if (known === null || state.epoch !== known.epoch || state.revision >= known.revision) this.#newest = state
  }
}
