import type { Log } from '@gateway/logging/log.js'
import type { ChangesSince, StoreState } from '@gateway/store/change-log.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import { findTokensByDigest, hasEnded, readUsableTokens, type StoredToken } from '@gateway/store/tokens.js'
import type { CatalogReader } from '../sync/catalog-reader.js'
import { type Reading, readBasemapPages, readVectorPages } from '../sync/read-catalog.js'
import type { StoreLink } from '../sync/store-link.js'
import type { KeptFile } from './kept-file.js'
import { RowBytes } from './kept-rows.js'

/** The stamp is at most so old when the store goes: this much of TOKEN_OFFLINE_SECONDS an edge that starts then has not got. */
const LONGEST_PAUSE_MS = 5_000
/** Of the time for which an edge goes on with what it knows, so that a short one is not used up by the pause. */
const PAUSE_SHARE = 1 / 5
/** Limit: tokens that are kept, those first that were used last. As many on one gateway in five minutes are not known of. */
const MOST_TOKENS = 20_000

export interface KeeperOptions {
  readonly file: KeptFile
  readonly reader: CatalogReader
  readonly store: StoreLink
  /** for how long an edge that is cut off goes on with what it knows */
  readonly trustMs: number
  readonly log: Log
}

/**
 * Keeps the catalog and the tokens of the store on disk, for an edge process that starts while the store is away. Follows the change log by
 * itself, in the supervisor, so that no process that serves spends time on it. Tokens are read after the state that they are kept with, and so
 * are never older than it.
 */
export class CatalogKeeper {
  readonly #o: KeeperOptions
  readonly #rows = new RowBytes()
  readonly #pauseMs: number
  #state: StoreState | null = null
  #instanceId = ''
  /** the file has not got all rows yet */
  #changed = true
  /** when the rows were last known to be the store's newest state */
  #knownAt = Number.NEGATIVE_INFINITY
  /** digests that were forgotten since tokens were last read: what is being read may be older */
  readonly #again = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  /** how often tokens were forgotten, and how many of these times the file has taken in */
  #forgotten = 0
  #forgottenWritten = 0
  /** why the file could not be written when that was tried last; '' where it could */
  #trouble = ''
  #started = false
  #stopped = false
  #last: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#o = options
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, options.trustMs * PAUSE_SHARE)
  }

  /** To be called when a worker has its catalog: what that one read is shared, and an edge whose store is away keeps what it has. */
  start(): void {
    if (this.#started) return
    this.#started = true
    this.#schedule()
  }

  /** What was forgotten behind a reading that still hangs is not in the file yet: the next start must not find it there. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#write().catch((error) => this.#note(error as Error))
  }

  /**
   * A worker has forgotten a token, by its hex digest, or all of them (null): the store or the bus said so. It goes from the file at once, since
   * it must not come back by a start without the store, and is read again when the store can be.
   */
  forgetToken(digest: string | null): void {
    if (digest === null) this.#state = null
    else this.#again.add(digest)
    const isKnown = digest !== null && this.#state !== null
    if (isKnown && !this.#rows.has('token', digest)) return
    this.#forgotten++
    if (isKnown) {
      this.#rows.delete('token', digest)
      this.#changed = true
    }
    this.#then(() => (isKnown ? this.#write() : this.#forgetAll()))
  }

  /** One line where it begins, and one where it is over: a disk that cannot be written to stays so. */
  #note(error: Error | null): void {
    const trouble = error?.message ?? ''
    // The name of a temporary file is another one each time.
    if ((trouble === '') !== (this.#trouble === '')) {
      if (error === null) this.#o.log.info('the catalog is kept on disk again')
      else this.#o.log.warn({ err: trouble }, 'the catalog cannot be kept on disk for a start without the store')
    }
    this.#trouble = trouble
  }

  /** One thing after the other. */
  #then(work: () => Promise<void>): void {
    this.#last = this.#last.then(work).catch((error) => this.#note(error as Error))
  }

  #schedule(): void {
    this.#then(async () => {
      await this.#followStore()
      if (!this.#stopped) this.#timer = setTimeout(() => this.#schedule(), this.#pauseMs)
    })
  }

  /** A store that is out of reach is no trouble of the file's: workers log it. */
  async #followStore(): Promise<void> {
    try {
      this.#knownAt = (await (this.#state === null ? this.#load() : this.#follow(this.#state))).askedAt
    } catch {
      return
    }
    await this.#write().catch((error) => this.#note(error as Error))
  }

  async #write(): Promise<void> {
    const forgotten = this.#forgotten
    // Rows may be half read then.
    if (this.#stopped) return forgotten === this.#forgottenWritten ? undefined : this.#forgetAll()
    if (this.#state === null) return
    const content = this.#changed ? this.#rows.all() : null
    this.#changed = false
    try {
      const facts = { state: this.#state, instanceId: this.#instanceId }
      await this.#o.file.write(content, facts, performance.now() - this.#knownAt)
      this.#forgottenWritten = forgotten
      this.#note(null)
    } catch (error) {
      this.#changed = true
      throw error
    }
  }

  async #forgetAll(): Promise<void> {
    const forgotten = this.#forgotten
    await this.#o.file.forget()
    this.#forgottenWritten = forgotten
  }

  async #load(): Promise<{ askedAt: number }> {
    const { reader, store } = this.#o
    this.#instanceId = (await store.query(readInstanceKeys)).instanceId
    const read = await reader.read('state', null, performance.now() - this.#pauseMs)
    this.#state = null
    this.#rows.clear()
    this.#changed = true
    await this.#readCodes(read.answeredAt, null, null)
    this.#again.clear()
    this.#putTokens(await store.query((sql) => readUsableTokens(sql, MOST_TOKENS)))
    this.#state = read.value
    return read
  }

  async #follow(known: StoreState): Promise<{ askedAt: number }> {
    const read = await this.#o.reader.read('changes', known, performance.now() - this.#pauseMs / 2)
    const since = read.value
    if (!since.covered || since.changes.some(({ kind }) => kind === 'all')) return this.#load()
    if (since.changes.length === 0 && this.#again.size === 0) return read
    this.#changed = true
    await this.#readCodes(read.answeredAt, keysOf(since, 'basemap'), keysOf(since, 'vector'))
    await this.#readTokens([...new Set([...keysOf(since, 'token'), ...this.#again])])
    this.#state = since.state
    return read
  }

  async #readCodes(
    notBefore: number,
    basemapCodes: readonly string[] | null,
    vectorCodes: readonly string[] | null,
  ): Promise<void> {
    const reading: Reading = { reader: this.#o.reader, notBefore, beforePage: async () => {} }
    const basemaps = await readBasemapPages(reading, basemapCodes)
    const vectors = await readVectorPages(reading, vectorCodes)
    for (const code of basemapCodes ?? []) this.#rows.delete('basemap', code)
    for (const code of vectorCodes ?? []) this.#rows.delete('vector', code)
    for (const row of basemaps.rows) this.#rows.put('basemap', row.code, row)
    for (const row of vectors.rows) this.#rows.put('vector', row.code, row)
  }

  async #readTokens(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return
    this.#again.clear()
    const wanted = digests.map((digest) => Buffer.from(digest, 'hex'))
    try {
      const found = await this.#o.store.query((sql) => findTokensByDigest(sql, wanted))
      for (const digest of digests) this.#rows.delete('token', digest)
      this.#putTokens(found)
    } catch (error) {
      for (const digest of digests) this.#again.add(digest)
      throw error
    }
  }

  #putTokens(tokens: readonly StoredToken[]): void {
    for (const token of tokens) {
      // biome-ignore lint/plugin: calendar, by which tokens expire
      if (!this.#again.has(token.digest) && !hasEnded(token, Date.now())) this.#rows.put('token', token.digest, token)
    }
  }
}

function keysOf(since: ChangesSince & { covered: true }, kind: 'basemap' | 'vector' | 'token'): string[] {
  return [...new Set(since.changes.filter((change) => change.kind === kind).map(({ key }) => key))]
}
