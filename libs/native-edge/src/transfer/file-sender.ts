import { setImmediate as nextTurn } from 'node:timers/promises'
import { loadAddon } from '../addon.js'
import type { NativeTilesets } from '../cold-tiles/cold-sets.js'
import type { ResponseTable } from '../hot-tiles/response-table.js'
import { testTier } from '../uws/self-test.js'
import { SelfTestRoute, TEST_FILE } from '../uws/self-test-route.js'
import { findServerBinary, type ServerBinary } from '../uws/server-binary.js'
import { BufferPool } from './buffer-pool.js'
import { CopiedBody } from './copied-body.js'
import { CopyTier } from './copy-tier.js'
import { NativeTier } from './native-tier.js'
import { StallWatch } from './stall-watch.js'
import type { HttpApp, HttpResponse, Listener, Outcome, SenderLog, Tier, TierName } from './types.js'

/**
 * Limits: a client that reads nothing for this long is cut. More than a minute, because a client's progress shows only when its kernel has room for a
 * whole segment again. On loopback a segment is 64 KB. A reader at 1 KB/s then shows progress every 59 to 65 seconds with sendfile, and every 63 to
 * 128 seconds with copies (measured; copies take more of its buffer).
 */
const STALL_SECONDS = 90
const COPYING_STALL_SECONDS = 150
/** Limit: turns of the event loop in which waiting connections are accepted before a listener closes; a flood never ends. */
const ACCEPT_TURNS = 100
/** Limit: concurrent reads for bodies of one remote source. */
const REMOTE_READS = 2

export interface SenderStats {
  /** Bodies begun, and their bytes that were handed to the kernel. */
  readonly transfers: number
  readonly bytes: number
  /** Bodies in progress. */
  readonly active: number
  readonly sent: number
  readonly aborted: number
  readonly truncated: number
  readonly stalled: number
}

export interface SendOptions {
  /**
   * Called exactly once, possibly before `send` returns, when the descriptor is no longer used. `bytes` is the part of the body that was handed on.
   * Errors that it throws are logged and not propagated.
   */
  onDone(outcome: Outcome, bytes: number): void
  /**
   * Name of the source of a file on a network file system, which may stop responding. Threads read such files, never sendfile, and few at a time for
   * each source, so that one source cannot occupy all threads.
   */
  readonly remote?: string | undefined
}

export type NativeUse = 'any' | 'proven' | 'off'

export interface SenderOptions {
  readonly log: SenderLog
  /** Stall time in seconds, for tests. The tiers check every 4 seconds. */
  readonly stallSeconds?: number | undefined
  /** Time in whole seconds after which an idle connection is closed. Only the native tier can exceed the 10 s of uWebSockets.js. */
  readonly idleSeconds?: number | undefined
  /**
   * The uWebSockets.js binaries with which the native tier is tried: those that it was `proven` with (the default), `any` that passes the probe and
   * the self-test, or none (`off`: bodies are copied).
   */
  readonly native?: NativeUse | undefined
  /** Size in bytes from which tiles are sent by reference to their file, for tests. Default: measured at the start. */
  readonly copyBelow?: number | undefined
  /** Replaces `findServerBinary` in tests. */
  readonly findBinary?: (() => ServerBinary | string) | undefined
}

/**
 * Sends ranges of files as response bodies of a uWebSockets.js App: by sendfile(2) over plain TCP if possible, otherwise by copying. The bytes are
 * the same. The sender copies until `attach` has found a better tier.
 *
 * - One sender for each process and App; it belongs to the thread of its event loop.
 * - While a body is being sent the caller must not touch its response, and must not have set `onWritable`. A handler set by `onAborted` is
 *   replaced: `onDone` reports the end.
 * - A file that is shorter than promised closes the connection; nothing is padded. If a file is replaced or deleted meanwhile, the content of the
 *   open descriptor is sent.
 */
export class FileSender {
  readonly #options: SenderOptions
  readonly #stallSeconds: number
  readonly #pool = new BufferPool()
  readonly #copying: CopyTier
  readonly #copyingWatch: StallWatch
  readonly #remotePools = new Map<string, BufferPool>()
  readonly #route = new SelfTestRoute()
  readonly #counts = { transfers: 0, bytes: 0, sent: 0, aborted: 0, truncated: 0, stalled: 0 }
  #tier: Tier
  #reason = 'not attached yet'

  constructor(options: SenderOptions) {
    this.#options = options
    this.#stallSeconds = options.stallSeconds ?? STALL_SECONDS
    this.#copyingWatch = new StallWatch(1000 * (options.stallSeconds ?? COPYING_STALL_SECONDS))
    this.#copying = new CopyTier(this.#pool, this.#copyingWatch)
    this.#tier = this.#copying
  }

  get tier(): TierName {
    return this.#tier.name
  }

  /** The reason for this tier, for the log and the metrics. */
  get reason(): string {
    return this.#reason
  }

  /** Registers the private path of the self-test. Must be called before any catch-all route is registered and before the App listens. */
  selfTestRoute(app: HttpApp): void {
    this.#route.register(app)
  }

  /** Attaches the native tier if it passes its self-test through the listener. Takes some tenths of a second; does not reject. */
  async attach(listener: Listener): Promise<void> {
    const refusal = this.#notWanted() ?? (await this.#attachNative(listener))
    this.#reason = refusal ?? 'its self-test passed'
    const copiedBelow =
      this.#tier instanceof NativeTier ? this.#tier.chooseCopyLimit(TEST_FILE, this.#options.copyBelow) : undefined
    const fields = { tier: this.tier, reason: this.reason, ...(copiedBelow !== undefined && { copiedBelow }) }
    if (refusal === null) this.#options.log.info(fields, 'the file sender is attached')
    else this.#options.log.warn(fields, 'files are copied, which costs more than sendfile')
  }

  /** Attaches the tier to the listener of another App, which replaces the previous one. Must be called before the event loop continues. */
  attachAlso(port: number): void {
    if (!(this.#tier instanceof NativeTier)) return
    const problem = this.#tier.attachAlso(port)
    if (problem === '') return
    // JavaScript takes over again all work that it had left to the native tier.
    this.#tier = this.#copying
    this.#reason = problem
    this.#options.log.warn(
      { reason: problem },
      'requests on the changed certificate are answered without the native tier',
    )
  }

  #notWanted(): string | null {
    return this.#options.native === 'off' ? 'the native tier is off' : null
  }

  /** Returns null if the native tier is attached, otherwise the reason. */
  async #attachNative(listener: Listener): Promise<string | null> {
    const binary = (this.#options.findBinary ?? findServerBinary)()
    if (typeof binary === 'string') return binary
    const { path, digest, proven } = binary
    if (!proven && this.#options.native !== 'any')
      return `this uWebSockets.js binary is not a proven one (SHA-256 ${digest}); NATIVE_TIER=any tries it all the same`
    const addon = loadAddon()
    if (typeof addon === 'string') return addon
    const limits = { stallSeconds: this.#stallSeconds, idleSeconds: this.#options.idleSeconds ?? 0 }
    const tier = NativeTier.attach(addon, path, listener, limits, this.#copying)
    if (typeof tier === 'string') return tier
    const problem = await testTier(tier, this.#route, listener)
    if (problem === '') this.#tier = tier
    else tier.detach()
    if (problem === '' && !proven)
      this.#options.log.warn({ digest }, 'an unknown uWebSockets.js binary passed the self-test')
    return problem || null
  }

  /**
   * Sends `length` bytes from `offset` as the body of `res`. Must be called inside the cork of `res` (a route handler before its first await, or
   * `res.cork`), with status and headers written but without Content-Length, which is added here. Does not throw.
   */
  send(res: HttpResponse, fd: number, offset: number, length: number, options: SendOptions): void {
    this.#counts.transfers++
    let settled = false
    const settle = (outcome: Outcome, bytes: number) => {
      if (settled) return
      settled = true
      this.#counts[outcome]++
      this.#counts.bytes += bytes
      this.#report(options, outcome, bytes)
    }
    try {
      const job = { res, fd, offset, length, settle }
      if (length > 0 && options.remote !== undefined) {
        new CopiedBody(job, this.#remotePool(options.remote), this.#copyingWatch).start()
      } else if (length > 0) this.#tier.send(job)
      else {
        res.end()
        settle('sent', 0)
      }
    } catch (error) {
      // The response is closed: its client disconnected before this call.
      this.#options.log.warn({ err: error }, 'a file could not be sent')
      settle('aborted', 0)
    }
  }

  /**
   * Begins a body of unknown length for a client that knows no chunks (HTTP/1.0, which only the native tier serves). The body ends with its connection.
   * Must be called inside the cork of `res`, with the first bytes; further ones follow by `tryEnd` with the length `ENDLESS`, the last ones with the
   * real length. False: the connection must be closed.
   */
  sendUntilClose(res: HttpResponse, first: Uint8Array): boolean {
    return this.#tier instanceof NativeTier && this.#tier.sendUntilClose(res, first)
  }

  #remotePool(source: string): BufferPool {
    const known = this.#remotePools.get(source)
    if (known !== undefined) return known
    const pool = new BufferPool(REMOTE_READS)
    this.#remotePools.set(source, pool)
    return pool
  }

  #report(options: SendOptions, outcome: Outcome, bytes: number): void {
    try {
      options.onDone(outcome, bytes)
    } catch (error) {
      this.#options.log.error({ err: error }, 'the end of a file transfer was not handled')
    }
  }

  /**
   * Returns the table of responses that are sent without JavaScript; undefined if the tier is not `native`. Must be called after `attach`, and only
   * once.
   */
  responseTable(capacityBytes: number): ResponseTable | undefined {
    return this.#tier instanceof NativeTier ? this.#tier.responseTable(capacityBytes) : undefined
  }

  /**
   * Returns the tile sets that are read without JavaScript, for the table of this sender; null if the tier is not `native`, or the kernel does not
   * support it.
   */
  coldSets(table: ResponseTable): NativeTilesets | null {
    return this.#tier instanceof NativeTier ? this.#tier.coldSets(table) : null
  }

  /**
   * Lets uWebSockets.js accept the connections that wait on the port, so that closing its listener right afterwards resets none. Does nothing without
   * the native tier, since only that tier knows of them.
   */
  async acceptWaiting(port: number): Promise<void> {
    for (let turn = 0; turn < ACCEPT_TURNS; turn++) {
      if (!(this.#tier instanceof NativeTier) || !this.#tier.connectionsWait(port)) return
      await nextTurn()
    }
  }

  /** True if a client has not read all bytes of a response that was sent without JavaScript. JavaScript tracks its own responses. */
  hasUnsent(): boolean {
    return this.#tier instanceof NativeTier && this.#tier.hasUnsent()
  }

  stats(): SenderStats {
    const { transfers, sent, aborted, truncated, stalled } = this.#counts
    return { ...this.#counts, active: transfers - sent - aborted - truncated - stalled }
  }
}
