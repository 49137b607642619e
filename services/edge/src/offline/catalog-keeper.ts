import type { Log } from '@gateway/core/logging/log.js'
import type { ChangesSince, StoreState } from '@gateway/store/change-log.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import {
  findTokensByDigest,
  hasEnded,
  readUsableTokens,
  type StoredToken,
  type UsableAfter,
} from '@gateway/store/tokens.js'
import { type CatalogReader, type Dated, LONGEST_TIMEOUT_MS } from '../sync/catalog-reader.js'
import {
  ALL_STYLES,
  basemapPages,
  type Reading,
  type StyleChanges,
  styleChangesOf,
  stylePages,
  vectorPages,
} from '../sync/read-catalog.js'
import { QUERY_TIMEOUT_MS, type StoreLink } from '../sync/store-link.js'
import type { KeptFile } from './kept-file.js'
import { RowBytes, type RowTypes } from './kept-rows.js'
import { RememberingReader } from './remembering-reader.js'

/** Maximum age in ms of the stamp when the store becomes unreachable. An edge that starts then has that much less of TOKEN_OFFLINE_SECONDS. */
const LONGEST_PAUSE_MS = 5_000
/** Share of the time for which an edge uses its known state, so that the pause does not use up a short time. */
const PAUSE_SHARE = 1 / 5
/** Limit: pause in ms after any number of failures, if PAUSE_SHARE allows it. */
const LONGEST_RETRY_MS = 60_000
/** Limit: tokens in one page, which takes some 10 ms. */
const PAGE_TOKENS = 1_000
/** Limit: kept tokens, the most recently used first. More tokens on one gateway within five minutes are not known of. */
const MOST_TOKENS = 20_000

export interface KeeperOptions {
  readonly file: KeptFile
  readonly reader: CatalogReader
  readonly store: StoreLink
  /** Time in ms for which an edge that is cut off uses its known state. */
  readonly trustMs: number
  readonly log: Log
}

/** A first complete reading, which continues after a failure where it stopped. */
interface Loading {
  readonly reader: CatalogReader
  /** Place after which the next page of tokens begins. */
  after: UsableAfter | null
  tokens: number
  hasTokens: boolean
}

/**
 * Keeps the catalog and the tokens of the store on disk, for an edge process that starts while the store is unreachable. Follows the change log
 * itself, in the supervisor, so that serving processes spend no time on it. Tokens are read after the state with which they are stored, so they
 * are never older than it.
 */
export class CatalogKeeper {
  readonly #o: KeeperOptions
  readonly #rows = new RowBytes()
  readonly #pauseMs: number
  readonly #longestRetryMs: number
  /** State of the log that the rows represent; null if they are incomplete. */
  #state: StoreState | null = null
  #loading: Loading | null = null
  #instanceId = ''
  /** True if the file must be written completely, because changes to it were lost or it does not exist. */
  #whole = true
  /** Number of consecutive failures to read the store. */
  #failures = 0
  /** When the rows were last known to be the store's newest state. */
  #knownAt = Number.NEGATIVE_INFINITY
  /** The same for the rows in the file; before there are any, the start. */
  #keptAt = performance.now()
  /** Digests that were forgotten since tokens were last read, because the reading in progress may be older. */
  readonly #again = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  /** Number of times that tokens were forgotten, and how many of these the file includes. */
  #forgotten = 0
  #forgottenWritten = 0
  /** Error of the last attempt to write the file; '' after a success. */
  #trouble = ''
  #started = false
  #stopped = false
  #last: Promise<void> = Promise.resolve()
  /** The write in progress; does not reject. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#o = options
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, options.trustMs * PAUSE_SHARE)
    this.#longestRetryMs = Math.min(LONGEST_RETRY_MS, options.trustMs * PAUSE_SHARE)
  }

  /** Time in ms since the state on disk was last known to be the store's newest. */
  get ageMs(): number {
    return performance.now() - this.#keptAt
  }

  /**
   * Must be called when a worker has its catalog: if the store is unreachable, the kept file stays. The first reading comes a moment later, after
   * edges that start at the same time have their catalogs too.
   */
  start(): void {
    if (this.#started) return
    this.#started = true
    this.#timer = setTimeout(() => this.#schedule(), this.#pauseMs * (0.5 + Math.random()))
  }

  /**
   * Removes the file if it still contains tokens that were forgotten while a reading hangs, because the next start must not find them. Waits for
   * a write in progress, which would restore them.
   */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
    await this.#write().catch((error) => this.#note(error as Error))
  }

  /**
   * Must be called when a worker has forgotten a token, by its hex digest, or all of them (null), because the store or the bus said so. The
   * token is removed from the file at once, so that a start without the store cannot restore it. It is read again when the store is reachable.
   */
  forgetToken(digest: string | null): void {
    if (digest === null) {
      this.#state = null
      this.#loading = null
    } else this.#again.add(digest)
    const isKnown = digest !== null && this.#state !== null
    if (isKnown && !this.#rows.has('token', digest)) return
    this.#forgotten++
    // Also while rows are being loaded, because an earlier page may contain it.
    if (digest !== null) this.#rows.delete('token', digest)
    // One write covers all tokens that were forgotten before it.
    this.#then(async () => {
      if (this.#forgotten === this.#forgottenWritten) return
      await (isKnown ? this.#write() : this.#forgetAll())
    })
  }

  /** Logs one line at the beginning of a problem, and one at its end, since a disk that cannot be written to stays so. */
  #note(error: Error | null): void {
    const trouble = error?.message ?? ''
    // The name of a temporary file differs each time, so messages are not compared.
    if ((trouble === '') !== (this.#trouble === '')) {
      if (error === null) this.#o.log.info('the catalog is kept on disk again')
      else this.#o.log.warn({ err: trouble }, 'the catalog cannot be kept on disk for a start without the store')
    }
    this.#trouble = trouble
  }

  /** Runs one task after the other. */
  #then(work: () => Promise<void>): void {
    this.#last = this.#last.then(work).catch((error) => this.#note(error as Error))
  }

  #schedule(): void {
    this.#then(async () => {
      await this.#followStore()
      if (!this.#stopped) this.#timer = setTimeout(() => this.#schedule(), this.#nextPauseMs())
    })
  }

  /** Increases with every failure, and is randomised: the edges of an overloaded store must not return all at once. */
  #nextPauseMs(): number {
    if (this.#failures === 0) return this.#pauseMs
    return Math.min(this.#longestRetryMs, this.#pauseMs * 2 ** (this.#failures - 1)) * (0.5 + Math.random())
  }

  async #followStore(): Promise<void> {
    try {
      const followed = this.#state === null ? null : await this.#follow(this.#state)
      const read = followed ?? (await this.#follow(await this.#load()))
      if (read === null) throw new Error('everything in the store has changed while it was read')
      this.#knownAt = read.askedAt
    } catch (error) {
      if (this.#failures++ === 0 && !this.#stopped)
        this.#o.log.warn({ err: (error as Error).message }, 'the catalog kept on disk does not follow the store')
      return
    }
    if (this.#failures > 0) this.#o.log.info('the catalog kept on disk follows the store again')
    this.#failures = 0
    await this.#write().catch((error) => this.#note(error as Error))
  }

  async #write(): Promise<void> {
    const forgotten = this.#forgotten
    // The rows may be incomplete then.
    if (this.#stopped) return forgotten === this.#forgottenWritten ? undefined : this.#forgetAll()
    if (this.#state === null) return
    const { file } = this.#o
    const facts = { state: this.#state, instanceId: this.#instanceId }
    const knownAt = this.#knownAt
    const whole = this.#whole || !file.takesAppends
    const records = this.#rows.takeChanges()
    this.#whole = false
    const agoMs = performance.now() - knownAt
    const writing = whole ? file.write(this.#rows.all(), facts, agoMs) : file.append(records, facts, agoMs)
    this.#writing = writing.catch(() => {})
    try {
      await writing
    } catch (error) {
      this.#whole = true
      // A forgotten token must not stay in the file, even on a full disk: removing the stamp needs no space.
      if (forgotten !== this.#forgottenWritten) await this.#forgetAll()
      throw error
    }
    this.#forgottenWritten = forgotten
    this.#keptAt = knownAt
    this.#note(null)
  }

  async #forgetAll(): Promise<void> {
    const forgotten = this.#forgotten
    await this.#o.file.forget()
    this.#forgottenWritten = forgotten
  }

  /**
   * Reads everything, and returns the state before the reading. The rows must then follow the changes since that state, so that all are of one
   * moment.
   */
  async #load(): Promise<StoreState> {
    const { reader, store } = this.#o
    this.#instanceId = (await store.query(readInstanceKeys)).instanceId
    const loading = this.#loading ?? this.#begin(reader)
    const read = await loading.reader.read('state', null, performance.now() - this.#pauseMs)
    await this.#readCodes(loading.reader, read.answeredAt, null, null, ALL_STYLES)
    while (!loading.hasTokens) await this.#loadTokens(loading)
    if (this.#loading !== loading) throw new Error('all tokens were forgotten while they were read')
    return read.value
  }

  #begin(reader: CatalogReader): Loading {
    this.#rows.clear()
    this.#whole = true
    this.#again.clear()
    this.#loading = { reader: new RememberingReader(reader), after: null, tokens: 0, hasTokens: false }
    return this.#loading
  }

  async #loadTokens(loading: Loading): Promise<void> {
    const { store } = this.#o
    const limitMs = Math.min(LONGEST_TIMEOUT_MS, QUERY_TIMEOUT_MS * 2 ** this.#failures)
    const page = (after: UsableAfter | null) => store.query((sql) => readUsableTokens(sql, after, PAGE_TOKENS), limitMs)
    const { tokens, next } = await page(loading.after)
    this.#putTokens(tokens)
    loading.tokens += tokens.length
    if (next !== null && loading.tokens < MOST_TOKENS) {
      loading.after = next
      return
    }
    // A token that was used meanwhile may have moved to the front, before the place of the reading.
    if (loading.after !== null) this.#putTokens((await page(null)).tokens)
    loading.hasTokens = true
  }

  /** Returns null if the log does not cover the changes since then, so that everything must be read. */
  async #follow(known: StoreState): Promise<Dated<unknown> | null> {
    const read = await this.#o.reader.read('changes', known, performance.now() - this.#pauseMs / 2)
    const since = read.value
    if (!since.covered || since.changes.some(({ kind }) => kind === 'all')) {
      this.#state = null
      this.#loading = null
      return null
    }
    const styleChanges = styleChangesOf(since.changes)
    const [basemaps, vectors] = [keysOf(since, 'basemap'), keysOf(since, 'vector')]
    await this.#readCodes(this.#o.reader, read.answeredAt, basemaps, vectors, styleChanges)
    await this.#readTokens([...new Set([...keysOf(since, 'token'), ...this.#again])])
    this.#state = since.state
    this.#loading = null
    return read
  }

  async #readCodes(
    reader: CatalogReader,
    notBefore: number,
    basemapCodes: readonly string[] | null,
    vectorCodes: readonly string[] | null,
    styleChanges: StyleChanges,
  ): Promise<void> {
    const reading: Reading = { reader, notBefore, beforePage: async () => {} }
    await this.#putPages('basemap', basemapPages(reading, basemapCodes), basemapCodes)
    await this.#putPages('vector', vectorPages(reading, vectorCodes), vectorCodes)
    await this.#putPages('style', stylePages(reading, styleChanges.codes), styleChanges.codes)
    if (styleChanges.fonts) this.#rows.put('fonts', '', (await reader.read('fonts', null, notBefore)).value)
  }

  /** Puts page by page, so that not all rows are in memory as objects. Deletes the rows of `codes` that are on no page. */
  async #putPages<K extends 'basemap' | 'vector' | 'style'>(
    kind: K,
    pages: AsyncIterable<readonly RowTypes[K][]>,
    codes: readonly string[] | null,
  ): Promise<void> {
    const missing = new Set(codes)
    for await (const page of pages) {
      for (const row of page) {
        this.#rows.put(kind, row.code, row)
        missing.delete(row.code)
      }
    }
    for (const code of missing) this.#rows.delete(kind, code)
  }

  async #readTokens(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return
    this.#again.clear()
    const wanted = digests.map((digest) => Buffer.from(digest, 'hex'))
    try {
      const found = await this.#o.store.query((sql) => findTokensByDigest(sql, wanted))
      // Workers that forget such a token later find it in no row, so the write that follows must count it.
      if (digests.some((digest) => this.#rows.has('token', digest))) this.#forgotten++
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
