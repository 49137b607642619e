import type { AccessToken } from '@gateway/access/decide.js'
import type { FileSender } from '@gateway/sendfile/file-sender.js'
import type { HotTable } from '@gateway/sendfile/hot-table.js'
import { NativeTokens } from '../access/native-tokens.js'
import type { TokenUsage } from '../access/token-usage.js'
import type { Catalog } from '../catalog/catalog.js'
import type { Counters } from '../metrics/counters.js'
import { type HotTile, type HotTiles, MAX_BYTES } from './hot-tiles.js'
import type { TileFile } from './load-tile.js'
import { NativeTiles, SWEEP_MS } from './native-tiles.js'

/**
 * Limit: bytes of the tiles that are answered without JavaScript. Taken from the budget of HotTiles, which then needs room only for tiles
 * that are asked for in ways that only JavaScript answers, and for large tiles' files.
 */
const NATIVE_BYTES = (MAX_BYTES * 3) / 4

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
  #counted = { answers: 0, bodyBytes: 0 }

  /** @param trustedUntilMs the rule of the JavaScript path: until when tokens that are known may be honoured */
  constructor(counters: Counters, usage: TokenUsage, trustedUntilMs: () => number) {
    this.#counters = counters
    this.#usage = usage
    this.#trustedUntilMs = trustedUntilMs
    counters.beforeReading = () => this.#count()
  }

  /** To be called once the sender is attached. */
  open(sender: FileSender, hotTiles: HotTiles): void {
    const table = this.#closed ? undefined : sender.hotTable(NATIVE_BYTES)
    if (table === undefined) return
    hotTiles.limitTo(MAX_BYTES - NATIVE_BYTES)
    const timer = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#opened = { table, tiles: new NativeTiles(table), tokens: new NativeTokens(table), timer }
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

  forgetToken(plaintext: string): void {
    this.#opened?.tokens.forget(plaintext)
  }

  /** To be called before anyone sees the new snapshot. */
  follow(catalog: Catalog): void {
    this.#opened?.tiles.follow(catalog)
  }

  /** Requests answered without JavaScript since the start. */
  get answers(): number {
    return this.#opened?.table.counts().answers ?? this.#counted.answers
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
    const { answers, bodyBytes } = this.#opened.table.counts()
    const news = answers - this.#counted.answers
    this.#counters.requests += news
    this.#counters.tiles += news
    this.#counters.tokenHits += news
    this.#counters.hotTileHits += news
    this.#counters.bytesSent += bodyBytes - this.#counted.bodyBytes
    this.#counted = { answers, bodyBytes }
  }
}
