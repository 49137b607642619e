import type { AccessToken } from '@gateway/access/decide.js'
import type { FileSender } from '@gateway/sendfile/file-sender.js'
import type { FixedAnswer, HotCounts, HotTable, RefusedFor } from '@gateway/sendfile/hot-table.js'
import { NativeTokens } from '../access/native-tokens.js'
import type { TokenUsage } from '../access/token-usage.js'
import type { Catalog } from '../catalog/catalog.js'
import type { DiskGate } from '../files/disk-gate.js'
import type { Counters } from '../metrics/counters.js'
import { type HotTile, type HotTiles, MAX_BYTES } from './hot-tiles.js'
import type { TileFile } from './load-tile.js'
import { NativeTiles, SWEEP_MS } from './native-tiles.js'

/**
 * Limit: bytes of the tiles that are answered without JavaScript. Taken from the budget of HotTiles, which then needs room only for tiles
 * that are asked for in ways that only JavaScript answers, and for large tiles' files.
 */
const NATIVE_BYTES = (MAX_BYTES * 3) / 4

const NONE_REFUSED: HotCounts['refusals'] = { 'no token': 0, 'a malformed token': 0, 'an unknown token': 0 }

interface Opened {
  readonly table: HotTable
  readonly tiles: NativeTiles
  readonly tokens: NativeTokens
  readonly timer: NodeJS.Timeout
}

/**
 * Lets the sender's native tier answer hot tiles without JavaScript: hands it the tiles and tokens that JavaScript has just allowed, and
 * takes them back the moment JavaScript would not answer so any more. The table itself watches expiry and grants of tokens and, by the one
 * time until which it may answer at all, how long this process is to be relied upon and when its first tile must be looked at again:
 * should the event loop stand still, it stops by itself. Where the tier is another one, nothing here does anything.
 */
export class NativeHot {
  readonly #counters: Counters
  readonly #usage: TokenUsage
  readonly #trustedUntilMs: () => number
  #opened: Opened | null = null
  #closed = false
  #counted: Pick<HotCounts, 'answers' | 'refusals' | 'bodyBytes'> = { answers: 0, refusals: NONE_REFUSED, bodyBytes: 0 }

  /** @param trustedUntilMs the rule of the JavaScript path: until when tokens that are known may be honoured */
  constructor(counters: Counters, usage: TokenUsage, trustedUntilMs: () => number) {
    this.#counters = counters
    this.#usage = usage
    this.#trustedUntilMs = trustedUntilMs
    counters.beforeReading = () => this.#count()
  }

  /** To be called once the sender is attached. `refusals`: what JavaScript answers to a tile's address in these cases. */
  open(
    sender: FileSender,
    hotTiles: HotTiles,
    disks: DiskGate,
    refusals: Readonly<Record<RefusedFor, FixedAnswer>>,
  ): void {
    const table = this.#closed ? undefined : sender.hotTable(NATIVE_BYTES)
    if (table === undefined) return
    hotTiles.limitTo(MAX_BYTES - NATIVE_BYTES)
    for (const [why, answer] of Object.entries(refusals)) table.setRefusal(why as RefusedFor, answer)
    const timer = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#opened = { table, tiles: new NativeTiles(table, disks), tokens: new NativeTokens(table), timer }
  }

  /** A tile that was just loaded, by the snapshot of now. true: the table has it, and had it not before. */
  offer(path: string, body: Uint8Array, tile: HotTile, file: TileFile | null, nowMs: number): boolean {
    const put = this.#opened?.tiles.put(path, body, tile, file, nowMs) ?? false
    if (put) this.#extendTrust()
    return put
  }

  /** A token that is known here and was just allowed to read. */
  noteToken(plaintext: string, token: AccessToken): void {
    this.#opened?.tokens.put(plaintext, token)
  }

  /** A token that is known here to be nobody's. */
  noteUnknown(plaintext: string): void {
    this.#opened?.tokens.putUnknown(plaintext)
  }

  /** It is not known any more whose token it is, or that it is nobody's. */
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

  /** Notes when tokens were used, to the precision of a sweep. */
  noteUses(): void {
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
    this.#opened?.tiles.sweep(Date.now())
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
    this.#counters.bytesSent += now.bodyBytes - before.bodyBytes
    this.#counted = now
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
