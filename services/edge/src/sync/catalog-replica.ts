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

/** What else forgets when the log says so. */
export interface FollowedTokens {
  invalidate(digest: string): void
  invalidateAll(): void
}

/** What an earlier process has read of the store. */
export interface KnownCatalog {
  readonly state: StoreState
  readonly basemaps: readonly StoredBasemap[]
  readonly vectors: readonly StoredVector[]
  readonly styles: readonly StoredStyle[]
  readonly fonts: readonly ServedFont[]
  /** the last moment at which this was known to be the newest state */
  readonly currentAt: number
}

/** While a large catalog is read, disabled tokens are looked for this often: no later than the poll would find them. */
const LOOK_FOR_TOKENS_MS = 1_000

/**
 * A state that was read a moment ago serves a start as well as the newest one: the log tells what came after it. Processes that start
 * together so read the same pages.
 */
const START_FROM_MS = 5_000

/**
 * Keeps one process at the newest revision of the change log. Messages of the bus are applied at once where they carry what they tell;
 * reading the log, at every poll and whenever a message leaves a gap, is what makes sure. No method rejects except `catchUp`.
 * All times are of the monotonic clock, `performance.now()`. It does not count the time for which a machine is suspended; what
 * was missed then is found by the first poll after it.
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
  /** not where it started from what an earlier process knew, which kept none */
  #knowsSecrets = false
  /** marks of the states that messages have led beyond while the log is being read */
  readonly #overtaken = new Set<string>()

  /**
   * @param now milliseconds, of the clock by which `reader` dates its answers
   * @param onCatalog called at the moment at which another snapshot takes the place of the last one, before anyone sees it
   * @param onSigningSecrets called with the keys of signed addresses whenever they may be others
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

  /** Whether a snapshot has ever been read. */
  get loaded(): boolean {
    return this.#applied !== null
  }

  /** The state of the log that this process has applied; null before it is loaded. */
  get applied(): StoreState | null {
    return this.#applied
  }

  /**
   * The newest state of the log that this process has heard of, whether it has applied it or not; null before there is one. A replica that has not
   * reached it may still have tokens as they were before it.
   */
  get newest(): LogState | null {
    return this.#newest
  }

  get appliedRevision(): number {
    return this.#applied?.revision ?? -1
  }

  /** The last moment at which this process was known to hold the newest revision. */
  get knownCurrentAt(): number {
    return this.#knownCurrentAt
  }

  /**
   * Starts from what an earlier process knew, as if it went on: the first reading of the log tells what has changed since. Until then the bus
   * proves nothing. false: this process has read something itself, or is about to.
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

  /** A version's content turned out to be another than it was when it was opened. */
  renewContent(contentId: number): void {
    this.#catalog = withNewContent(this.#catalog, contentId)
    this.#onCatalog(this.#catalog)
    this.#onApplied()
  }

  /** Messages may have been lost: the bus proves nothing until the log was read. */
  noteGap(): void {
    this.#gaps++
    this.#gapAt = this.#now()
  }

  /** The bus answers, and nothing that it told is still to be applied: what this process holds is current. */
  noteBusAlive(): void {
    if (this.loaded && this.#gapsClosed === this.#gaps) this.#knownCurrentAt = this.#now()
  }

  /** A message of the bus. true: it is applied. false: the log must be read, by `catchUp`. */
  hear(message: RevisionMessage): boolean {
    if (this.#applied === null) return false
    const { revision, mark, changes } = message
    // Before the tokens are forgotten: what is looked up from then on is at least as new.
    this.#noteHeard(revision, mark)
    // A token is forgotten whatever revisions are missing: that is always right, and works while the store is out of reach.
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
    // A store that does not answer is asked all the time; what goes on from a known state counts all the same.
    if (this.#catchingUp !== null) this.#overtaken.add(this.#applied.mark)
    this.#applied = { ...this.#applied, revision, mark }
    this.#onApplied()
    return true
  }

  /**
   * Reads what the log has beyond the applied state and applies it. Callers at the same time share one run after the current one.
   * @param since what was read since this moment will do; default: now
   */
  async catchUp(since: number = this.#now()): Promise<void> {
    this.#wantedSince = Math.max(this.#wantedSince, since)
    if (this.#catchingUp !== null) await this.#catchingUp.catch(() => {})
    this.#catchingUp ??= this.#run().finally(() => {
      this.#catchingUp = null
    })
    await this.#catchingUp
  }

  /** Once the reading that is under way, if any, has ended, whichever way; before the next one that is asked for from now on begins. */
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
      // Before anything else: what this process holds may be of another history. What it looks up from now on is not.
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

  /** Reads rows, which may be newer than the state but never older, and puts them in place; codes null: all. */
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

  /** Forgets the tokens that are disabled while pages are read: what the log has beyond the state is applied only after them. */
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

  /** A message without a mark comes from an older version: no replica can prove that it has reached that state. */
  #noteHeard(revision: number, mark = ''): void {
    if (revision <= (this.#newest?.revision ?? -1)) return
    this.#newest = { revision, mark }
    this.#newestHeardAt = this.#now()
  }

  /** The log itself corrects what was heard before it was read: a message may come from a history that was given up since. */
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
