import { readBasemapSizes, readBasemaps } from '@gateway/store/basemaps.js'
import { type ChangesSince, changesSince, currentState, type StoreState } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { readSigningSecrets } from '@gateway/store/signing-keys.js'
import { readVectorSizes, readVectors } from '@gateway/store/vectors.js'
import type { ReplicaReads } from './replica-reads.js'
import { QUERY_TIMEOUT_MS, type StoreLink, StoreTimeout } from './store-link.js'

type Codes = readonly string[]

/** All that is read of the store in order to follow it. `about` is a state that is known, or codes (null: all). */
const READS = {
  state: (sql: Sql, _: null) => currentState(sql),
  changes: (sql: Sql, known: StoreState) => changesSince(sql, known),
  basemapSizes: (sql: Sql, codes: Codes | null) => readBasemapSizes(sql, codes),
  basemaps: (sql: Sql, codes: Codes) => readBasemaps(sql, codes),
  vectorSizes: (sql: Sql, codes: Codes | null) => readVectorSizes(sql, codes),
  vectors: (sql: Sql, codes: Codes) => readVectors(sql, codes),
  signingSecrets: (sql: Sql, _: null) => readSigningSecrets(sql),
}

export type What = keyof typeof READS

const ROWS: ReadonlySet<What> = new Set(['basemapSizes', 'basemaps', 'vectorSizes', 'vectors'])
export type About<W extends What> = Parameters<(typeof READS)[W]>[1]
export type Answer<W extends What> = Awaited<ReturnType<(typeof READS)[W]>>

/** What was read, and the moments before and after; milliseconds of performance.now(). */
export interface Dated<T> {
  readonly value: T
  readonly askedAt: number
  readonly answeredAt: number
}

export interface CatalogReader {
  /** Rejects where the store is out of reach. @param notBefore an answer that was asked for earlier will not do */
  read<W extends What>(what: W, about: About<W>, notBefore: number): Promise<Dated<Answer<W>>>
}

/**
 * Limit: rows in one page. Alone a page takes some 30 ms; where a hundred processes read at once, a second or two, and tokens that were
 * disabled meanwhile are looked for between pages.
 */
export const PAGE_ROWS = 500
/** What one more row may cost on a machine that many read from at once. */
const ROW_TIMEOUT_MS = 5
/** The list of a hundred thousand codes takes a second on a quiet machine. */
const SIZES_TIMEOUT_MS = 10_000

/** Milliseconds that reading may take: it follows the size of what is read, and is longer than QUERY_TIMEOUT_MS for pages alone. */
export function readTimeoutMs(what: What): number {
  if (what === 'basemaps' || what === 'vectors') return QUERY_TIMEOUT_MS + PAGE_ROWS * ROW_TIMEOUT_MS
  return what === 'basemapSizes' || what === 'vectorSizes' ? SIZES_TIMEOUT_MS : QUERY_TIMEOUT_MS
}

/** Limit: milliseconds to which the time for a read grows where reads were late before it; the store gives up then. */
export const LONGEST_TIMEOUT_MS = 15_000

/** Reads by queries of its own. Each that is late doubles the time for the next: on a busy machine the same query would be late for good. */
export class StoreReader implements CatalogReader {
  readonly #store: StoreLink
  readonly #rows: Pick<ReplicaReads, 'query'>
  #patience = 1
  #newest: StoreState | null = null

  /** @param rows what reads the catalog's rows; the log is read from the store itself, which decides what is current */
  constructor(store: StoreLink, rows: Pick<ReplicaReads, 'query'> = store) {
    this.#store = store
    this.#rows = rows
  }

  /** The newest state that this reader has read of the log; null: it has read none. */
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
