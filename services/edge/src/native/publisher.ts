import type { AccessToken } from '@gateway/access/decide.js'
import {
  type FileRange,
  type FixedAnswer,
  type RefusedFor,
  type ResponseCounts,
  type ResponseTable,
  TIMED_EVERY,
  type WatchedAnswers,
} from '@gateway/native-edge/hot-tiles/response-table.js'
import type { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import type { TileFile } from '@gateway/tilesets/source.js'
import type { TokenUsage } from '../auth/token-usage.js'
import type { DiskGate } from '../files/disk-gate.js'
import type { Counters } from '../metrics/counters.js'
import type { Catalog } from '../sync/catalog.js'
import type { CachedTile, TileCache } from '../tiles/tile-cache.js'
import { PublishedTiles, SWEEP_MS } from './published-tiles.js'
import { PublishedTokens } from './published-tokens.js'

/**
 * The part of this process's tile memory that the native table takes over: TileCache then needs room only for tiles that are asked for in
 * ways that only JavaScript answers, and for large tiles' files.
 */
const NATIVE_SHARE = 3 / 4

const NONE_REFUSED: ResponseCounts['refusals'] = { 'no token': 0, 'a malformed token': 0, 'an unknown token': 0 }

interface Opened {
  readonly table: ResponseTable
  readonly tiles: PublishedTiles
  readonly tokens: PublishedTokens
  readonly timer: NodeJS.Timeout
}

/**
 * Lets the native tier answer hot tiles without JavaScript: publishes to its response table the tiles and tokens that JavaScript has just
 * allowed, and drops them the moment JavaScript would not answer so any more. The table compares expiry and grants of tokens, and one time
 * until which it may answer at all: that covers how long this process trusts its tokens and when the first tile must be checked again, so
 * that a blocked event loop ends it. Without the native tier nothing here has an effect.
 */
export class NativePublisher {
  readonly #counters: Counters
  readonly #usage: TokenUsage
  readonly #trustedUntilMs: () => number
  #opened: Opened | null = null
  #closed = false
  #pickEvery = 0
  #counted: Pick<ResponseCounts, 'answers' | 'refusals' | 'bodyBytes' | 'truncated' | 'stalled'> = {
    answers: 0,
    refusals: NONE_REFUSED,
    bodyBytes: 0,
    truncated: 0,
    stalled: 0,
  }
  #watched: WatchedAnswers = { notModified: 0, evictions: 0, seconds: 0, timed: [] }

  /** @param trustedUntilMs the rule of the JavaScript path: until when tokens that are known may be honoured, by `performance.now()` */
  constructor(counters: Counters, usage: TokenUsage, trustedUntilMs: () => number) {
    this.#counters = counters
    this.#usage = usage
    this.#trustedUntilMs = trustedUntilMs
    counters.beforeReading = () => this.#count()
  }

  /** To be called once the sender is attached. `refusals`: what JavaScript answers to a tile's address in these cases. */
  open(
    sender: FileSender,
    tileCache: TileCache,
    disks: DiskGate,
    refusals: Readonly<Record<RefusedFor, FixedAnswer>>,
  ): void {
    const nativeBytes = Math.floor(tileCache.capacityBytes * NATIVE_SHARE)
    const table = this.#closed ? undefined : sender.responseTable(nativeBytes)
    if (table === undefined) return
    tileCache.limitTo(tileCache.capacityBytes - nativeBytes)
    for (const [why, answer] of Object.entries(refusals)) table.setRefusal(why as RefusedFor, answer)
    table.pickEvery(this.#pickEvery)
    const timer = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#opened = { table, tiles: new PublishedTiles(table, disks), tokens: new PublishedTokens(table), timer }
  }

  /** Leaves one request in so many to JavaScript, so that it can log them. To be called before `open`. */
  pickEvery(requests: number): void {
    this.#pickEvery = requests
  }

  /** Whether the newest request was left to JavaScript for that; null: nothing is answered without it. */
  get picked(): boolean | null {
    return this.#opened?.table.picked ?? null
  }

  /** A tile that was just loaded, by the snapshot of now. true: the table has it, and had it not before. */
  offer(path: string, body: Uint8Array | FileRange, tile: CachedTile, file: TileFile | null, nowMs: number): boolean {
    const put = this.#opened?.tiles.put(path, body, tile, file, nowMs) ?? false
    if (put) this.#extendTrust()
    return put
  }

  /** A token that is in the token cache and was just allowed to read. */
  noteToken(plaintext: string, token: AccessToken): void {
    // The table does not look at where a request comes from.
    if (token.limits === null) this.#opened?.tokens.put(plaintext, token)
  }

  /** A token that the store does not know, as the token cache holds it. */
  noteUnknown(plaintext: string): void {
    this.#opened?.tokens.putUnknown(plaintext)
  }

  /** The token has left the token cache. */
  forgetToken(plaintext: string): void {
    this.#opened?.tokens.forget(plaintext)
  }

  /** To be called before anyone sees the new snapshot. */
  follow(catalog: Catalog): void {
    this.#opened?.tiles.follow(catalog)
  }

  /** Requests answered without JavaScript since the start, refusals included. */
  get answers(): number {
    const { answers, refusals } = this.#opened?.table.counts() ?? this.#counted
    return answers + sumOf(refusals)
  }

  /** Memory of the tiles in the table. */
  get bytes(): number {
    return this.#opened?.table.counts().tileBytes ?? 0
  }

  get capacityBytes(): number {
    return this.#opened?.table.capacityBytes ?? 0
  }

  /** Notes when tokens were used, to the precision of a sweep. */
  noteUses(): void {
    // biome-ignore lint/plugin: calendar, last_used_at
    this.#opened?.tokens.noteUses(this.#usage, Date.now())
  }

  /** From now on JavaScript sees every request. */
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
    this.#opened?.tiles.sweep(performance.now())
    this.#extendTrust()
  }

  #extendTrust(): void {
    const until = Math.min(this.#trustedUntilMs(), this.#opened?.tiles.goodUntilMs ?? 0, Number.MAX_SAFE_INTEGER)
    this.#opened?.table.trustTokensUntil(until)
  }

  #count(): void {
    if (this.#opened === null) return
    const before = this.#counted
    const now = this.#opened.table.counts()
    const newAnswers = now.answers - before.answers
    const refused = (why: RefusedFor): number => now.refusals[why] - before.refusals[why]
    const { authFailures } = this.#counters
    authFailures.token_missing += refused('no token')
    authFailures.token_malformed += refused('a malformed token')
    authFailures.token_unknown += refused('an unknown token')
    this.#counters.requests += newAnswers + sumOf(now.refusals) - sumOf(before.refusals)
    this.#counters.tiles += newAnswers
    this.#counters.tokenHits += newAnswers + refused('an unknown token')
    this.#counters.hotTileHits += newAnswers
    this.#counters.nativeTileHits += newAnswers
    this.#counters.truncatedFiles += now.truncated - before.truncated
    this.#counters.stalledReaders += now.stalled - before.stalled
    this.#counters.bytesSent += now.bodyBytes - before.bodyBytes
    this.#counted = now
    this.#countWatched(this.#opened.table.watched(), newAnswers, sumOf(now.refusals) - sumOf(before.refusals))
  }

  #countWatched(now: WatchedAnswers, answers: number, refusals: number): void {
    const before = this.#watched
    const { tile } = this.#counters.answers
    const notModified = now.notModified - before.notModified
    tile.success += answers - notModified
    tile.redirection += notModified
    tile.clientError += refusals
    tile.durations.addAll(
      (now.seconds - before.seconds) * TIMED_EVERY,
      now.timed.map((count, i) => (count - (before.timed[i] ?? 0)) * TIMED_EVERY),
    )
    this.#counters.nativeEvictions += now.evictions - before.evictions
    this.#watched = now
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
