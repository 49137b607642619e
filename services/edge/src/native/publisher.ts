import { randomInt } from 'node:crypto'
import type { AccessToken } from '@gateway/core/access/decide.js'
import {
  type AnswerTimes,
  answerTimes,
  responseCounts,
  type SampledTile,
  type TakenUsage,
  TIMED_EVERY,
  type TimedAnswers,
} from '@gateway/native-edge/hot-tiles/response-counts.js'
import type { ResponseTable } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { DocumentResponse, FileRange, FixedAnswer, RefusedFor } from '@gateway/native-edge/hot-tiles/responses.js'
import type { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import type { Source } from '@gateway/tilesets/source.js'
import type { KnownSignature } from '../auth/signed-urls.js'
import type { TokenUsage } from '../auth/token-usage.js'
import type { DiskGate } from '../files/disk-gate.js'
import type { Counters } from '../metrics/counters.js'
import type { Catalog } from '../sync/catalog.js'
import type { CachedTile, TileCache, TileTarget } from '../tiles/tile-cache.js'
import { TILE_SAMPLING } from '../usage/tile-counts.js'
import { MAX_PAIRS } from '../usage/usage-counts.js'
import { type BeyondZooms, NativeTilesetRegistry } from './native-tileset-registry.js'
import { type Offered, type OnDisk, PublishedTiles, SWEEP_MS } from './published-tiles.js'
import { PublishedTokens } from './published-tokens.js'

/** Interval in ms at which JavaScript sees a request of a token in steady use, and records its address. */
const SEE_TOKENS_MS = 60_000

/**
 * Share of this process's tile memory that the native table uses. TileCache then needs room only for tiles that are requested in forms that only
 * JavaScript answers, and for large tiles' files.
 */
const NATIVE_SHARE = 3 / 4

/** Interval in sweeps at which the disk space of evicted parts of remote archives is freed. */
const FORGET_EVICTED_EVERY = 40

/** The dependencies of native responses. */
export interface NativeOpening {
  readonly sender: FileSender
  readonly disks: DiskGate
  /** JavaScript's responses to a tile's address for these reasons. */
  readonly refusals: Readonly<Partial<Record<RefusedFor, FixedAnswer>>>
  /** Response for a missing tile at a zoom that the version does not have. */
  readonly beyondZooms: BeyondZooms
}

interface Opened {
  readonly table: ResponseTable
  readonly tiles: PublishedTiles
  /** null if the kernel does not allow tiles to be read without JavaScript. */
  readonly sets: NativeTilesetRegistry | null
  readonly tokens: PublishedTokens
  readonly timer: NodeJS.Timeout
}

/**
 * Lets the native tier answer requests for hot tiles without JavaScript. Puts the tiles and tokens that JavaScript has just allowed into its response
 * table, and drops them as soon as JavaScript would decide otherwise. The table checks expiry and grants of tokens, and one time until which it may
 * answer at all. That time covers how long this process trusts its tokens and when the first tile must be checked again, so that a blocked event loop
 * ends it. Without the native tier this class has no effect.
 */
export class NativePublisher {
  readonly #counters: Counters
  readonly #usage: TokenUsage
  readonly #leaseExpiresAt: () => number
  #opened: Opened | null = null
  /** Set even after `close`: responses that are being sent then are counted at their end. */
  #table: ResponseTable | null = null
  #closed = false
  #pickEvery = 0
  #sweeps = 0
  #placed = { tiles: 0, bytes: 0 }
  #counted = responseCounts([])
  #timed = answerTimes([])

  /** @param leaseExpiresAt returns the time of `performance.now()` until which known tokens may be honoured, as on the JavaScript path */
  constructor(counters: Counters, usage: TokenUsage, leaseExpiresAt: () => number) {
    this.#counters = counters
    this.#usage = usage
    this.#leaseExpiresAt = leaseExpiresAt
    counters.beforeReading = () => this.#count()
  }

  /** Must be called after the sender was attached. */
  open(tileCache: TileCache, { sender, disks, refusals, beyondZooms }: NativeOpening): void {
    const nativeBytes = Math.floor(tileCache.capacityBytes * NATIVE_SHARE)
    const table = this.#closed ? undefined : sender.responseTable(nativeBytes)
    if (table === undefined) return
    this.#table = table
    tileCache.limitTo(tileCache.capacityBytes - nativeBytes)
    for (const [why, answer] of Object.entries(refusals)) table.setRefusal(why as RefusedFor, answer)
    table.pickEvery(this.#pickEvery)
    table.seeTokensEvery(this.#usage.keepsAddresses ? SEE_TOKENS_MS : 0)
    table.limitPairs(MAX_PAIRS)
    table.sampleTiles({ ...TILE_SAMPLING, seed: randomInt(2 ** 32) })
    const coldSets = sender.coldSets(table)
    this.#opened = {
      table,
      tiles: new PublishedTiles(table, disks),
      sets:
        coldSets === null ? null : new NativeTilesetRegistry(coldSets, beyondZooms, (code) => table.dropTiles(code)),
      tokens: new PublishedTokens(table),
      timer: setInterval(() => this.#sweep(), SWEEP_MS),
    }
    this.#extendTrust()
  }

  /** Offers a tile that was just loaded by the current snapshot. */
  tryCache(path: string, body: Uint8Array | FileRange, tile: CachedTile, kept: OnDisk, nowMs: number): Offered {
    if (this.#opened === null) return 'declined'
    const { sets, table, tiles } = this.#opened
    // If the table has the tile, the request came in a form that only JavaScript answers.
    if (sets?.stateOf(path, nowMs, body.length) === 'put') return table.hasTile(path) ? 'declined' : 'unwanted'
    const offered = tiles.put(path, body, tile, kept, nowMs)
    if (offered === 'put') this.#extendTrust()
    return offered
  }

  /**
   * Registers the set of a requested tile that is not in memory, with the current snapshot's target of its path and its source; see
   * `NativeTilesetRegistry`.
   */
  registerTileset(path: string, target: TileTarget, source: Source | undefined, nowMs: number): void {
    if (source !== undefined) this.#opened?.sets?.put(path, target, source, nowMs)
  }

  /** True if `registerTileset` must be called for this path, even if its tile is in memory; otherwise every tile of its set would come here. */
  needsRefresh(path: string, nowMs: number): boolean {
    return this.#opened?.sets?.stateOf(path, nowMs) === 'due'
  }

  /** Head of the request whose handler runs; empty if its response cannot be given to `offerDocument`. */
  get requestHead(): string {
    return this.#opened?.table.requestHead ?? ''
  }

  /** Offers a document of the current snapshot, for the same request with the same token. */
  offerDocument(document: DocumentResponse): void {
    this.#opened?.table.putDocument(document)
  }

  /** Leaves one request in this many to JavaScript, so that it can log them. Must be called before `open`. */
  pickEvery(requests: number): void {
    this.#pickEvery = requests
  }

  /** True if the newest request was left to JavaScript for the log; null if every request reaches JavaScript. */
  get picked(): boolean | null {
    return this.#opened?.table.picked ?? null
  }

  /** Adds a token that is in the token cache and is good to read at this moment, regardless of its grants. */
  noteToken(plaintext: string, token: AccessToken): void {
    // The table does not check the address of a client, counts no rates, and does not know held versions. It does check an area.
    const { limits, readsHeld = false } = token
    const isLimited = limits !== null && (limits.origins.size > 0 || limits.networks.length > 0 || limits.rate !== null)
    if (!isLimited && !readsHeld) this.#opened?.tokens.put(plaintext, token)
  }

  /** Adds a signed URL without bounds that was just verified and is cached. */
  noteSignature(signature: KnownSignature): void {
    this.#opened?.tokens.putSignature(signature)
  }

  /** Adds a token that the store does not know, as in the token cache. */
  noteUnknown(plaintext: string): void {
    this.#opened?.tokens.putUnknown(plaintext)
  }

  /** Must be called when the token has left the token cache. */
  forgetToken(plaintext: string): void {
    this.#opened?.tokens.forget(plaintext)
  }

  /** Must be called when the signature is no longer cached. */
  forgetSignature(text: string): void {
    this.#opened?.tokens.forgetSignature(text)
  }

  /** Must be called before any request can see the new snapshot. */
  follow(catalog: Catalog): void {
    this.#opened?.table.clearDocuments()
    this.#opened?.tiles.follow(catalog)
    this.#opened?.sets?.follow(catalog)
  }

  /** Drops the tiles of a basemap. */
  dropOf(code: string): void {
    this.#opened?.tiles.dropOf(code)
  }

  /** Requests answered without JavaScript since the start, including refusals. */
  get answers(): number {
    const { answers, tileDocuments, catalogDocuments, refusals } = this.#opened?.table.counts() ?? this.#counted
    return answers + tileDocuments + catalogDocuments + sumOf(refusals)
  }

  /** Bytes of the tiles in the table. */
  get bytes(): number {
    return this.#opened?.table.counts().tileBytes ?? 0
  }

  get capacityBytes(): number {
    return this.#opened?.table.capacityBytes ?? 0
  }

  /** Records when tokens were used, to the precision of a sweep. */
  noteUses(): void {
    // biome-ignore lint/plugin: calendar, last_used_at
    this.#opened?.tokens.noteUses(this.#usage, Date.now())
  }

  /** Returns the native usage since the last call, by the names of `UsageCounts`. */
  takeUsage(): TakenUsage | null {
    return this.#table?.takeUsage() ?? null
  }

  /** Returns the sampled tiles of that usage. */
  takeTiles(): readonly SampledTile[] {
    return this.#table?.takeTiles() ?? []
  }

  /** Makes JavaScript see every request from now on. */
  close(): void {
    this.#closed = true
    if (this.#opened === null) return
    this.noteUses()
    this.#count()
    clearInterval(this.#opened.timer)
    this.#opened.table.clear()
    this.#opened = null
  }

  #sweep(): void {
    this.noteUses()
    if (this.#sweeps++ % FORGET_EVICTED_EVERY === 0) this.#opened?.sets?.forgetEvicted()
    this.#opened?.tiles.sweep(performance.now())
    this.#extendTrust()
  }

  #extendTrust(): void {
    const until = Math.min(this.#leaseExpiresAt(), this.#opened?.tiles.goodUntilMs ?? 0, Number.MAX_SAFE_INTEGER)
    this.#opened?.table.trustTokensUntil(until)
  }

  #count(): void {
    if (this.#opened === null) return
    const before = this.#counted
    const now = this.#opened.table.counts()
    const newAnswers = now.answers - before.answers
    const newCold = now.cold - before.cold
    const newHits = newAnswers - newCold
    const refused = (why: RefusedFor): number => now.refusals[why] - before.refusals[why]
    const { authFailures } = this.#counters
    authFailures.token_missing += refused('no token')
    authFailures.token_malformed += refused('a malformed token')
    authFailures.token_unknown += refused('an unknown token')
    authFailures.resource_not_granted += refused('not granted')
    const tileDocuments = now.tileDocuments - before.tileDocuments
    const catalogDocuments = now.catalogDocuments - before.catalogDocuments
    const documents = tileDocuments + catalogDocuments
    this.#counters.requests += newAnswers + documents + sumOf(now.refusals) - sumOf(before.refusals)
    this.#counters.tiles += newAnswers
    const missing = refused('no such tile') + refused('no such tile, as an image')
    this.#counters.missingTiles += missing
    this.#counters.tokenHits += newAnswers + documents + refused('an unknown token') + refused('not granted') + missing
    this.#counters.hotTileHits += newHits
    this.#counters.nativeTileHits += newHits
    this.#counters.nativeColdTiles += newCold
    this.#counters.truncatedFiles += now.truncated - before.truncated
    this.#counters.stalledReaders += now.stalled - before.stalled
    this.#counters.bytesSent += now.bodyBytes - before.bodyBytes
    this.#counted = now
    const placed = this.#opened.sets?.placed ?? this.#placed
    this.#counters.remoteTiles += placed.tiles - this.#placed.tiles
    this.#counters.remoteTileBytes += placed.bytes - this.#placed.bytes
    this.#placed = placed
    this.#counters.nativeEvictions += now.evictions - before.evictions
    const { tile, catalog } = this.#counters.answers
    const notModified = now.notModified - before.notModified
    tile.success += newAnswers - notModified + tileDocuments
    catalog.success += catalogDocuments
    tile.redirection += notModified
    tile.clientError += sumOf(now.refusals) - sumOf(before.refusals)
    this.#countTimes(this.#opened.table.answerTimes())
  }

  #countTimes(now: AnswerTimes): void {
    const { answers, tileTimes } = this.#counters
    const newly = (where: keyof AnswerTimes) => since(this.#timed[where], now[where])
    const [memory, pageCache] = [newly('memory'), newly('pageCache')]
    tileTimes.of('memory').addAll(memory, TIMED_EVERY)
    tileTimes.of('page_cache').addAll(pageCache, TIMED_EVERY)
    const { tile, catalog } = answers
    for (const timed of [memory, pageCache, newly('refused'), newly('tileDocuments')])
      tile.durations.addAll(timed, TIMED_EVERY)
    catalog.durations.addAll(newly('catalogDocuments'), TIMED_EVERY)
    this.#timed = now
  }
}

/** Returns the difference between two readings. */
function since(before: TimedAnswers, now: TimedAnswers): TimedAnswers {
  const counts = now.counts.map((count, i) => count - (before.counts[i] ?? 0))
  return { seconds: now.seconds - before.seconds, counts }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
