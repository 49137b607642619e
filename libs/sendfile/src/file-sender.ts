import { BufferPool } from './buffer-pool.js'
import { CopiedBody } from './copied-body.js'
import { CopyTier } from './copy-tier.js'
import type { HotTable } from './hot-table.js'
import { KoffiTier } from './koffi-tier.js'
import { loadAddon, NativeTier } from './native-tier.js'
import { type Listener, testTier } from './self-test.js'
import { SelfTestRoute } from './self-test-route.js'
import { findServerBinary } from './server-binary.js'
import { StallWatch } from './stall-watch.js'
import type { Tier, TierName } from './types.js'
import { type HttpApp, type HttpResponse, type Outcome, type ProbedTier, type SenderLog, TIERS } from './types.js'

/**
 * Limits: a client that takes nothing at all for so long is cut. Longer than a minute, because what a client reads shows only when its
 * kernel has room for a whole segment again. On loopback that is 64 KB: a reader at 1 KB/s shows progress every 59 to 65 seconds where
 * sendfile sends, and every 63 to 128 seconds where copies are sent (measured; they take more of its buffer).
 */
const STALL_SECONDS = 90
const COPYING_STALL_SECONDS = 150
/** Limit: reads under way for bodies of one remote source. */
const REMOTE_READS = 2

export interface SenderStats {
  /** Bodies begun, and bytes of them that were handed to the kernel. */
  readonly transfers: number
  readonly bytes: number
  /** Bodies under way. */
  readonly active: number
  readonly sent: number
  readonly aborted: number
  readonly truncated: number
  readonly stalled: number
}

export interface SendOptions {
  /** Called exactly once, possibly before `send` returns: the descriptor is not used any more. A throw is logged and goes no further. */
  onDone(outcome: Outcome): void
  /**
   * Names the source of a file that is on a file system of another machine, which may fall silent: threads read it, never sendfile, and so
   * few at a time for each source that it does not take all of them along.
   */
  readonly remote?: string | undefined
}

export interface SenderOptions {
  readonly log: SenderLog
  /** In seconds, for tests. The tiers look every 4 seconds. */
  readonly stallSeconds?: number | undefined
  /** The tiers that may be used, for tests and measurements; all otherwise. Copying always may. */
  readonly tiers?: readonly TierName[] | undefined
}

/**
 * Sends ranges of files as response bodies of a uWebSockets.js App (plain HTTP, no TLS): by sendfile(2) where that is possible, by copying where it is not. The
 * bytes are the same. Until `attach` has found a better tier it copies.
 *
 * - One sender for each process and App; it belongs to the thread of its event loop.
 * - While a body is under way the caller must not touch its response, and must not have set `onWritable`. A handler set by `onAborted`
 *   is replaced: `onDone` tells of the end.
 * - A file that is shorter than promised closes the connection; nothing is padded. A file that is replaced or deleted is sent as
 *   the descriptor has it.
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
    this.#copyingWatch = new StallWatch(options.stallSeconds ?? COPYING_STALL_SECONDS)
    this.#copying = new CopyTier(this.#pool, this.#copyingWatch)
    this.#tier = this.#copying
  }

  get tier(): TierName {
    return this.#tier.name
  }

  /** Why it is this tier and not a faster one, for the log and the metrics. */
  get reason(): string {
    return this.#reason
  }

  /** Registers the private path of the self-test; before any catch-all route, and before the App listens. */
  selfTestRoute(app: HttpApp): void {
    this.#route.register(app)
  }

  /** Picks the fastest tier that passes its self-test through the listener. Takes some tenths of a second; does not reject. */
  async attach(listener: Listener): Promise<void> {
    const refused: string[] = []
    const binary = findServerBinary()
    for (const name of TIERS) {
      if (this.#options.tiers && !this.#options.tiers.includes(name)) continue
      if (name === 'copy') break
      const tier = typeof binary === 'string' ? binary : this.#open(name, binary.path, listener.port)
      const problem = typeof tier === 'string' ? tier : await this.#prove(tier, listener)
      if (problem === '') break
      refused.push(`${name}: ${problem}`)
    }
    this.#reason =
      refused.join('; ') || (this.#tier === this.#copying ? 'no other tier is allowed' : 'its self-test passed')
    const fields = { tier: this.tier, reason: this.reason }
    if (refused.length > 0) this.#options.log.warn(fields, 'files are sent by a slower tier')
    else this.#options.log.info(fields, 'the file sender is attached')
  }

  #open(name: 'native' | 'koffi', binary: string, port: number): ProbedTier | string {
    if (name === 'koffi') return this.#openKoffi(binary, port)
    const addon = loadAddon()
    return typeof addon === 'string' ? addon : NativeTier.attach(addon, binary, port, this.#stallSeconds, this.#copying)
  }

  #openKoffi(binary: string, port: number): KoffiTier | string {
    return KoffiTier.attach(binary, port, this.#pool, new StallWatch(this.#stallSeconds), this.#copying)
  }

  async #prove(tier: ProbedTier, listener: Listener): Promise<string> {
    const problem = await testTier(tier, this.#route, listener)
    if (problem === '') this.#tier = tier
    else tier.detach()
    return problem
  }

  /**
   * Sends `length` bytes from `offset` as the body of `res`. To be called inside the cork of `res` (a route handler before its first
   * await, or `res.cork`), with status and headers written and no length: Content-Length is added here. Does not throw.
   */
  send(res: HttpResponse, fd: number, offset: number, length: number, options: SendOptions): void {
    this.#counts.transfers++
    let settled = false
    const settle = (outcome: Outcome, bytes: number) => {
      if (settled) return
      settled = true
      this.#counts[outcome]++
      this.#counts.bytes += bytes
      this.#report(options, outcome)
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
      // The response is gone: its client left before this call.
      this.#options.log.warn({ err: error }, 'a file could not be sent')
      settle('aborted', 0)
    }
  }

  #remotePool(source: string): BufferPool {
    const known = this.#remotePools.get(source)
    if (known !== undefined) return known
    const pool = new BufferPool(REMOTE_READS)
    this.#remotePools.set(source, pool)
    return pool
  }

  #report(options: SendOptions, outcome: Outcome): void {
    try {
      options.onDone(outcome)
    } catch (error) {
      this.#options.log.error({ err: error }, 'the end of a file transfer was not handled')
    }
  }

  /** Tiles that are answered without JavaScript; undefined where the tier is not `native`. To be called after `attach`, and once. */
  hotTable(capacityBytes: number): HotTable | undefined {
    return this.#tier instanceof NativeTier ? this.#tier.hotTable(capacityBytes) : undefined
  }

  stats(): SenderStats {
    const { transfers, sent, aborted, truncated, stalled } = this.#counts
    return { ...this.#counts, active: transfers - sent - aborted - truncated - stalled }
  }
}
