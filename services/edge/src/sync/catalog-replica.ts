import { type Change, EVERY_BASEMAP, type LogState } from '@gateway/contracts/change.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { RevisionMessage } from '@gateway/store/bus/bus.js'
import type { StoreState } from '@gateway/store/change-log.js'
import type { SigningSecret } from '@gateway/store/signing-keys.js'
import type { ServedFont, StoredStyle } from '@gateway/store/styles.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import { type Catalog, EMPTY_CATALOG, nextCatalog, withNewContent } from './catalog.js'
import type { CatalogReader, Dated } from './catalog-reader.js'
import {
  ALL_STYLES,
  type Reading,
  readBasemapPages,
  readStylePages,
  readVectorPages,
  type StyleChanges,
  styleChangesOf,
} from './read-catalog.js'

/** Caches that must drop tokens when the log says so. */
export interface FollowedTokens {
  invalidate(digest: string): void
  invalidateAll(): void
}

/** The state that an earlier process has read from the store. */
export interface KnownCatalog {
  readonly state: StoreState
  readonly basemaps: readonly StoredBasemap[]
  readonly vectors: readonly StoredVector[]
  readonly styles: readonly StoredStyle[]
  readonly fonts: readonly ServedFont[]
  /** Last time at which this was known to be the newest state. */
  readonly currentAt: number
}

/** Interval in ms at which disabled tokens are looked for while a large catalog is read: no later than the poll would find them. */
const LOOK_FOR_TOKENS_MS = 1_000

/**
 * Age in ms up to which a state may be used for a start instead of the newest one, because the log has all later changes. So processes that start
 * together read the same pages.
 */
const START_FROM_MS = 5_000

/**
 * Keeps one process at the newest revision of the change log. Messages of the bus are applied at once if they contain their changes; certainty
 * comes from reading the log, at every poll and whenever a message leaves a gap. No method rejects except `catchUp`. All times are of the
 * monotonic clock, `performance.now()`. It does not count the time for which a machine is suspended; the first poll afterwards finds changes
 * missed then.
 */
export class CatalogReplica {
  readonly #reader: CatalogReader
  readonly #tokens: FollowedTokens
  readonly #now: () => number
  readonly #onApplied: () => void
  readonly #onCatalog: (catalog: Catalog) => void
  readonly #onSigningSecrets: (secrets: readonly SigningSecret[]) => void
  #catalog: Catalog = EMPTY_CATALOG
  #applied: StoreState | null = null
  #newest: LogState | null = null
  #newestHeardAt = Number.NEGATIVE_INFINITY
  #gaps = 0
  #gapsClosed = 0
  #gapAt = Number.NEGATIVE_INFINITY
  #knownCurrentAt = Number.NEGATIVE_INFINITY
  #wantedSince = Number.NEGATIVE_INFINITY
  #catchingUp: Promise<void> | null = null
  /** False if it started from the state of an earlier process, which does not include the keys. */
  #knowsSecrets = false
  /** Marks of states that messages have superseded while the log is being read. */
  readonly #overtaken = new Set<string>()

  /**
   * @param now returns milliseconds of the clock by which `reader` dates its results
   * @param onCatalog called when a new snapshot replaces the last one, before any request sees it
   * @param onSigningSecrets called with the keys of signed URLs whenever they may have changed
   */
  constructor(
    reader: CatalogReader,
    tokens: FollowedTokens,
    now: () => number,
    onApplied: () => void,
    onCatalog: (catalog: Catalog) => void = () => {},
    onSigningSecrets: (secrets: readonly SigningSecret[]) => void = () => {},
  ) {
    this.#reader = reader
    this.#tokens = tokens
    this.#now = now
    this.#onApplied = onApplied
    this.#onCatalog = onCatalog
    this.#onSigningSecrets = onSigningSecrets
  }

  get catalog(): Catalog {
    return this.#catalog
  }

  /** True if a snapshot was read at least once. */
  get loaded(): boolean {
    return this.#applied !== null
  }

  /** State of the log that this process has applied; null before it is loaded. */
  get applied(): StoreState | null {
    return this.#applied
  }

  /**
   * Newest state of the log that this process has heard of, applied or not; null before there is one. A replica that has not reached it may still
   * have older tokens.
   */
  get newest(): LogState | null {
    return this.#newest
  }

  get appliedRevision(): number {
    return this.#applied?.revision ?? -1
  }

  /** Last time at which this process was known to have the newest revision. */
  get knownCurrentAt(): number {
    return this.#knownCurrentAt
  }

  /**
   * Starts from the state of an earlier process and continues it: the first reading of the log finds later changes. Until then the bus proves
   * nothing. Returns false if this process has read the store itself, or is about to.
   */
  begin(known: KnownCatalog): boolean {
    if (this.#applied !== null || this.#catchingUp !== null) return false
    const all = <T>(rows: readonly T[]) => ({ codes: null, rows })
    this.#catalog = nextCatalog(EMPTY_CATALOG, all(known.basemaps), all(known.vectors), {
      styles: all(known.styles),
      fonts: known.fonts,
    })
    this.#onCatalog(this.#catalog)
    this.#applied = known.state
    this.#newest = known.state
    this.#knownCurrentAt = known.currentAt
    this.noteGap()
    this.#onApplied()
    return true
  }

  /** Must be called when a version's content differs from when it was opened. */
  renewContent(contentId: number): void {
    this.#catalog = withNewContent(this.#catalog, contentId)
    this.#onCatalog(this.#catalog)
    this.#onApplied()
  }

  /** Must be called when messages may have been lost: the bus then proves nothing until the log was read. */
  noteGap(): void {
    this.#gaps++
    this.#gapAt = this.#now()
  }

  /**
   * Must be called with each state that a control plane attests over the bus. If this process has applied it, and has missed no message, it is
   * current. A bus that is alive proves nothing by itself: a message that never reached it is missing without a gap.
   */
  noteAttested({ mark }: LogState): void {
    if (this.#applied?.mark === mark && this.#gapsClosed === this.#gaps) this.#knownCurrentAt = this.#now()
  }

  /** Handles a message of the bus. Returns true if it was applied, and false if the log must be read by `catchUp`. */
  hear(message: RevisionMessage): boolean {
    if (this.#applied === null) return false
    const { revision, mark, changes } = message
    // Before the tokens are dropped, so that later look-ups are at least as new.
    this.#noteHeard(revision, mark)
    // A token is dropped even if revisions are missing: that is always correct, and works while the store is unreachable.
    for (const change of changes) this.#forgetToken(change)
    if (mark !== undefined && mark === this.#applied.mark) return true
    if (mark === undefined || !this.#goesOn(message, this.#applied)) {
      this.noteGap()
      return false
    }
    if (changes.some((change) => change.kind !== 'token')) {
      this.noteGap()
      return false
    }
    // While the store does not respond, a query is always in progress. A message that continues the known state is applied even then.
    if (this.#catchingUp !== null) this.#overtaken.add(this.#applied.mark)
    this.#applied = { ...this.#applied, revision, mark }
    this.#onApplied()
    return true
  }

  /**
   * Reads the log beyond the applied state and applies it. Concurrent callers share one run after the current one.
   * @param since results that were read after this time are new enough; default: now
   */
  async catchUp(since: number = this.#now()): Promise<void> {
    this.#wantedSince = Math.max(this.#wantedSince, since)
    if (this.#catchingUp !== null) await this.#catchingUp.catch(() => {})
    this.#catchingUp ??= this.#run().finally(() => {
      this.#catchingUp = null
    })
    await this.#catchingUp
  }

  /** Resolves when the current reading, if any, has ended in any way, and before a later one begins. */
  settled(): Promise<void> {
    return this.#catchingUp?.catch(() => {}) ?? Promise.resolve()
  }

  #goesOn({ revision, previousMark, changes }: RevisionMessage, applied: StoreState): boolean {
    const contiguous = changes.every((change, i) => change.revision === applied.revision + 1 + i)
    return previousMark === applied.mark && contiguous && changes.at(-1)?.revision === revision
  }

  async #run(): Promise<void> {
    const gaps = this.#gaps
    const before = this.#applied
    this.#overtaken.clear()
    const notBefore = Math.max(this.#wantedSince, this.#gapAt)
    const read = this.#applied === null ? await this.#load() : await this.#follow(this.#applied, notBefore)
    this.#gapsClosed = gaps
    this.#knownCurrentAt = Math.max(this.#knownCurrentAt, read.askedAt)
    if (this.#applied?.mark !== before?.mark || this.#applied?.epoch !== before?.epoch) this.#onApplied()
  }

  async #load(): Promise<Dated<StoreState>> {
    const read = await this.#reader.read('state', null, this.#now() - START_FROM_MS)
    this.#noteRead(read.value, read.askedAt)
    await this.#readSigningSecrets(read.answeredAt)
    await this.#show(read.value, read.answeredAt, null, null, ALL_STYLES)
    this.#applied = read.value
    return read
  }

  async #follow(applied: StoreState, notBefore: number): Promise<Dated<unknown>> {
    const read = await this.#reader.read('changes', applied, notBefore)
    const { value: since, askedAt, answeredAt } = read
    this.#noteRead(since.state, askedAt)
    if (!since.covered || since.changes.some((change) => change.kind === 'all')) {
      // First, because the state of this process may be of another history. Later look-ups are not.
      this.#tokens.invalidateAll()
      await this.#readSigningSecrets(answeredAt)
      await this.#show(since.state, answeredAt, null, null, ALL_STYLES)
      this.#applied = since.state
      return read
    }
    for (const change of since.changes) this.#forgetToken(change)
    if (!this.#knowsSecrets || since.changes.some(({ kind }) => kind === 'signing_key'))
      await this.#readSigningSecrets(answeredAt)
    const basemaps = keysOf(since.changes, 'basemap')
    const basemapCodes = basemaps.includes(EVERY_BASEMAP) ? null : basemaps
    const vectorCodes = keysOf(since.changes, 'vector')
    await this.#show(since.state, answeredAt, basemapCodes, vectorCodes, styleChangesOf(since.changes))
    if (!this.#overtaken.has(since.state.mark)) this.#applied = since.state
    return read
  }

  async #readSigningSecrets(notBefore: number): Promise<void> {
    this.#onSigningSecrets((await this.#reader.read('signingSecrets', null, notBefore)).value)
    this.#knowsSecrets = true
  }

  /** Reads rows, which may be newer than the state but never older, and publishes them; codes null means all. */
  async #show(
    state: StoreState,
    stateReadAt: number,
    basemapCodes: readonly string[] | null,
    vectorCodes: readonly string[] | null,
    styleChanges: StyleChanges,
  ): Promise<void> {
    const beforePage = this.#tokenWatch(state)
    const reading: Reading = { reader: this.#reader, notBefore: stateReadAt, beforePage }
    const basemaps = await readBasemapPages(reading, basemapCodes)
    const vectors = await readVectorPages(reading, vectorCodes)
    const styles = await readStylePages(reading, styleChanges)
    const isSame = basemapCodes?.length === 0 && vectorCodes?.length === 0 && styleChanges.codes?.length === 0
    if (!isSame || styleChanges.fonts) {
      this.#catalog = nextCatalog(this.#catalog, basemaps, vectors, styles)
      this.#onCatalog(this.#catalog)
    }
  }

  /** Drops the tokens that are disabled while pages are read: the log beyond the state is applied only after the pages. */
  #tokenWatch(state: StoreState): () => Promise<void> {
    let seen = state
    let lookedAt = this.#now()
    return async () => {
      if (this.#now() - lookedAt < LOOK_FOR_TOKENS_MS) return
      lookedAt = this.#now()
      const { value: since, askedAt } = await this.#reader.read('changes', seen, lookedAt - LOOK_FOR_TOKENS_MS / 2)
      this.#noteRead(since.state, askedAt)
      if (since.covered) for (const change of since.changes) this.#forgetToken(change)
      else this.#tokens.invalidateAll()
      seen = since.state
    }
  }

  /** A message without a mark is from an older version: no replica can prove that it has reached that state. */
  #noteHeard(revision: number, mark = ''): void {
    if (revision <= (this.#newest?.revision ?? -1)) return
    this.#newest = { revision, mark }
    this.#newestHeardAt = this.#now()
  }

  /** The log corrects states that came in messages before it was read: a message may be from a history that was abandoned since. */
  #noteRead({ revision, mark }: StoreState, askedAt: number): void {
    if (this.#newest === null || revision >= this.#newest.revision || askedAt > this.#newestHeardAt)
      this.#newest = { revision, mark }
  }

  #forgetToken(change: Change): void {
    if (change.kind === 'token') this.#tokens.invalidate(change.key)
    else if (change.kind === 'all') this.#tokens.invalidateAll()
  }
}

function keysOf(changes: readonly Change[], kind: Change['kind']): string[] {
  return [...new Set(changes.filter((change) => change.kind === kind).map((change) => change.key))]
}
