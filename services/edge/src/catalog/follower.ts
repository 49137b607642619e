import type { RevisionMessage } from '@gateway/bus/bus.js'
import type { Change } from '@gateway/contracts/change.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { ChangesSince } from '@gateway/store/change-log.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import { type Catalog, type CatalogRead, EMPTY_CATALOG, nextCatalog } from './catalog.js'

/** The store as a follower needs it. All of them reject where it is out of reach. */
export interface FollowedStore {
  currentRevision(): Promise<number>
  changesSince(revision: number): Promise<ChangesSince>
  /** codes null: all */
  readBasemaps(codes: readonly string[] | null): Promise<readonly StoredBasemap[]>
  readVectors(codes: readonly string[] | null): Promise<readonly StoredVector[]>
}

/** What else forgets when the log says so. */
export interface FollowedTokens {
  invalidate(digest: string): void
  invalidateAll(): void
}

/**
 * Keeps one process at the newest revision of the change log. Messages of the bus are applied at once where they carry what they tell;
 * reading the log, at every poll and whenever a message leaves a gap, is what makes sure. No method rejects except `catchUp`.
 */
export class Follower {
  readonly #store: FollowedStore
  readonly #tokens: FollowedTokens
  readonly #now: () => number
  readonly #onApplied: () => void
  readonly #onCatalog: (catalog: Catalog) => void
  #catalog: Catalog = EMPTY_CATALOG
  #loaded = false
  #applied = -1
  #heardOf = -1
  #gaps = 0
  #gapsClosed = 0
  #knownCurrentAt = Number.NEGATIVE_INFINITY
  #catchingUp: Promise<void> | null = null

  /** @param onCatalog called at the moment at which another snapshot takes the place of the last one, before anyone sees it */
  constructor(
    store: FollowedStore,
    tokens: FollowedTokens,
    now: () => number,
    onApplied: () => void,
    onCatalog: (catalog: Catalog) => void = () => {},
  ) {
    this.#store = store
    this.#tokens = tokens
    this.#now = now
    this.#onApplied = onApplied
    this.#onCatalog = onCatalog
  }

  get catalog(): Catalog {
    return this.#catalog
  }

  /** Whether a snapshot has ever been read. */
  get loaded(): boolean {
    return this.#loaded
  }

  get appliedRevision(): number {
    return this.#applied
  }

  /** The last moment at which this process was known to hold the newest revision; milliseconds since 1970. */
  get knownCurrentAt(): number {
    return this.#knownCurrentAt
  }

  /** The subscription stands anew: messages may have been lost, so that the bus proves nothing until the log was read. */
  noteGap(): void {
    this.#gaps++
  }

  /** The bus answers, and nothing that it told is still to be applied: what this process holds is current. */
  noteBusAlive(): void {
    const nothingMissed = this.#gapsClosed === this.#gaps && this.#applied >= this.#heardOf
    if (this.#loaded && nothingMissed) this.#knownCurrentAt = this.#now()
  }

  /** A message of the bus. true: it is applied. false: the log must be read, by `catchUp`. */
  hear(message: RevisionMessage): boolean {
    if (!this.#loaded) return false
    // A token is forgotten whatever revisions are missing: that is always right, and works while the store is out of reach.
    for (const change of message.changes) this.#forgetToken(change)
    this.#heardOf = Math.max(this.#heardOf, message.revision)
    if (message.revision <= this.#applied) return true
    const news = message.changes.filter((change) => change.revision > this.#applied)
    const follows = news.length > 0 && news.every((change, i) => change.revision === this.#applied + 1 + i)
    const complete = follows && news.at(-1)?.revision === message.revision
    if (!complete || this.#catchingUp !== null || news.some((change) => change.kind !== 'token')) return false
    this.#applied = message.revision
    this.#onApplied()
    return true
  }

  /** Reads what the log has beyond the applied revision and applies it. Callers at the same time share one run after the current one. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp !== null) await this.#catchingUp.catch(() => {})
    this.#catchingUp ??= this.#run().finally(() => {
      this.#catchingUp = null
    })
    await this.#catchingUp
  }

  async #run(): Promise<void> {
    const startedAt = this.#now()
    const gaps = this.#gaps
    const before = this.#applied
    if (!this.#loaded) await this.#reload()
    else {
      const since = await this.#store.changesSince(this.#applied)
      if (since.covered) await this.#apply(since.changes, since.revision)
      else await this.#reload()
    }
    this.#gapsClosed = gaps
    this.#knownCurrentAt = Math.max(this.#knownCurrentAt, startedAt)
    if (this.#applied !== before) this.#onApplied()
  }

  async #apply(changes: readonly Change[], revision: number): Promise<void> {
    if (changes.some((change) => change.kind === 'all')) return this.#reload()
    for (const change of changes) this.#forgetToken(change)
    const basemaps = keysOf(changes, 'basemap')
    const vectors = keysOf(changes, 'vector')
    if (basemaps.length + vectors.length > 0) {
      this.#show(
        { codes: basemaps, rows: basemaps.length === 0 ? [] : await this.#store.readBasemaps(basemaps) },
        { codes: vectors, rows: vectors.length === 0 ? [] : await this.#store.readVectors(vectors) },
      )
    }
    this.#applied = revision
  }

  /** Reads everything. The revision is read before the rows: rows may be newer than it, never older. */
  async #reload(): Promise<void> {
    const revision = await this.#store.currentRevision()
    const basemaps = await this.#store.readBasemaps(null)
    const vectors = await this.#store.readVectors(null)
    this.#tokens.invalidateAll()
    this.#show({ codes: null, rows: basemaps }, { codes: null, rows: vectors })
    this.#applied = revision
    // A store restored from a backup is behind what was heard before.
    this.#heardOf = revision
    this.#loaded = true
  }

  #show(basemaps: CatalogRead<StoredBasemap>, vectors: CatalogRead<StoredVector>): void {
    this.#catalog = nextCatalog(this.#catalog, basemaps, vectors)
    this.#onCatalog(this.#catalog)
  }

  #forgetToken(change: Change): void {
    if (change.kind === 'token') this.#tokens.invalidate(change.key)
    else if (change.kind === 'all') this.#tokens.invalidateAll()
  }
}

function keysOf(changes: readonly Change[], kind: Change['kind']): string[] {
  return [...new Set(changes.filter((change) => change.kind === kind).map((change) => change.key))]
}
