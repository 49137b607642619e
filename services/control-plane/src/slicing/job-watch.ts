import { type Renewal, renewSliceLease, type SliceLease, type SliceProgress } from '@gateway/store/slice-jobs.js'
import type { ControlContext } from '../context.js'
import type { ToolRun } from './tool.js'

/** A runner that has not renewed for this long is taken for dead. */
export const LEASE_SECONDS = 12
const RENEW_MS = 2000

export const CANCELLED = 'cancelled by an administrator'

/** The job fails with this message, or this process no longer has a say in it. */
type Stopped = { readonly end: 'finished'; readonly message: string } | { readonly end: 'lost' | 'interrupted' }

/** Renews the lease while the tool runs, and stops the tool for whatever makes its work pointless. */
export class JobWatch {
  progress: SliceProgress = { progress: 0, phase: 'starting' }
  /** why the tool was stopped; null: it was not */
  stopped: Stopped | null = null
  readonly #ctx: ControlContext
  readonly #lease: SliceLease
  readonly #timer: NodeJS.Timeout
  readonly #unwake: () => void
  #tool: ToolRun | null = null
  #lastRenewed = Date.now()

  constructor(ctx: ControlContext, lease: SliceLease, onWake: (listener: () => void) => () => void) {
    this.#ctx = ctx
    this.#lease = lease
    this.#timer = setInterval(() => void this.renew(), RENEW_MS)
    this.#unwake = onWake(() => void this.renew())
    ctx.shutdown.addEventListener('abort', this.#interrupt)
  }

  guard(tool: ToolRun): void {
    this.#tool = tool
    if (this.stopped !== null) tool.stop()
    if (this.#ctx.shutdown.aborted) this.#interrupt()
  }

  stop(why: Stopped): void {
    this.stopped ??= why
    this.#tool?.stop()
  }

  async renew(): Promise<Renewal> {
    try {
      const renewal = await renewSliceLease(this.#ctx.sql, this.#lease, LEASE_SECONDS, this.progress)
      this.#lastRenewed = Date.now()
      if (renewal === 'lost') this.stop({ end: 'lost' })
      if (renewal === 'cancel') this.stop({ end: 'finished', message: CANCELLED })
      return renewal
    } catch {
      // The store is away: go on while nobody else can have the lease.
      if (Date.now() - this.#lastRenewed > LEASE_SECONDS * 1000) this.stop({ end: 'lost' })
      return 'lost'
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#unwake()
    this.#ctx.shutdown.removeEventListener('abort', this.#interrupt)
  }

  readonly #interrupt = (): void => this.stop({ end: 'interrupted' })
}
