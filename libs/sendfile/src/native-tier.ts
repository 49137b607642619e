import { createRequire } from 'node:module'
import type { CachedFileAddon } from './cached-file.js'
import { HotTable, type HotTableAddon } from './hot-table.js'
import { type HttpResponse, type Job, NOTHING, OUTCOMES, type ProbedTier, type Tier } from './types.js'

/** What native/addon.cc exports; its comments say more. */
export interface Addon extends HotTableAddon, CachedFileAddon {
  attach(
    binary: string,
    port: number,
    stallSeconds: number,
    onSettled: (id: number, outcome: number, sent: number) => void,
  ): string
  detach(): void
  probe(stage: number): boolean
  mark(): void
  start(fd: number, offset: number, length: number): number
}

const SENT = 0
const NOT_POSSIBLE = -1
const FIRST_FAILURE = -2

/** The addon, or why there is none. */
export function loadAddon(): Addon | string {
  try {
    return createRequire(import.meta.url)('../build/Release/sendfile.node') as Addon
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    return missing ? 'the addon was not built' : `the addon does not load: ${(error as Error).message}`
  }
}

/** Tier 1: sendfile(2) from hooks in uSockets' event handling. */
export class NativeTier implements ProbedTier {
  readonly name = 'native'
  readonly #addon: Addon
  readonly #pending = new Map<number, Job>()
  /** For a response that is not corked, or whose connection is older than the hooks. */
  readonly #otherwise: Tier

  private constructor(addon: Addon, otherwise: Tier) {
    this.#addon = addon
    this.#otherwise = otherwise
  }

  /** Hooks the listener on `port`, or says why that cannot be. */
  static attach(
    addon: Addon,
    binary: string,
    port: number,
    stallSeconds: number,
    otherwise: Tier,
  ): NativeTier | string {
    const tier = new NativeTier(addon, otherwise)
    const problem = addon.attach(binary, port, stallSeconds, (id, outcome, sent) => tier.#settled(id, outcome, sent))
    return problem === '' ? tier : problem
  }

  detach(): void {
    this.#addon.detach()
  }

  /** The stages are those of native/layout.h, with the very bytes that it looks for. */
  probe(res: HttpResponse): boolean {
    let found = this.#addon.probe(0)
    res.writeStatus('200 OK')
    found = this.#addon.probe(1) && found
    res.writeHeader('ab', 'c')
    found = this.#addon.probe(2) && found
    res.onAborted(() => {})
    const [, complete] = res.tryEnd(NOTHING, 1)
    if (complete) return false
    found = this.#addon.probe(3) && found
    res.tryEnd(Buffer.from('x'), 1)
    return this.#addon.probe(4) && found
  }

  /** One table for the process: a second one is the same with another capacity. */
  hotTable(capacityBytes: number): HotTable {
    return new HotTable(this.#addon, capacityBytes)
  }

  send(job: Job): void {
    const { res, fd, offset, length } = job
    this.#addon.mark()
    res.tryEnd(NOTHING, length)
    const started = this.#addon.start(fd, offset, length)
    if (started === SENT) {
      res.tryEnd(NOTHING, 0)
      job.settle('sent', length)
    } else if (started > 0) {
      this.#pending.set(started, job)
      // uWebSockets.js ends the process over a pending response without this handler; the hooks report the abort.
      res.onAborted(() => {})
    } else if (started === NOT_POSSIBLE) {
      this.#otherwise.send(job)
    } else {
      res.close()
      job.settle(OUTCOMES[FIRST_FAILURE - started] ?? 'aborted', 0)
    }
  }

  #settled(id: number, outcome: number, sent: number): void {
    const job = this.#pending.get(id)
    if (!job) return
    this.#pending.delete(id)
    const name = OUTCOMES[outcome] ?? 'aborted'
    // uWebSockets.js knows of no body bytes: with none missing it takes the response for complete.
    if (name === 'sent') job.res.cork(() => job.res.tryEnd(NOTHING, 0))
    job.settle(name, sent)
  }
}
