import { setTimeout as sleep } from 'node:timers/promises'
import { renewSliceLease, type SliceEnd, type SliceLease, type SliceProgress } from '@gateway/store/slice-jobs.js'
import { type LeaseEnd, LeaseKeeper, type LeaseTimes } from '../jobs/leases.js'
import { STORE_PAUSE_MS } from '../jobs/runner.js'
import type { ControlContext } from '../platform/context.js'

/** Each renewal writes the progress too, which is watched: hence so often. */
export const LEASE: LeaseTimes = { leaseSeconds: 12, renewMs: 2000 }

/** How the run of a job ended; `lost` and `stopped`: without an end of the job. */
export type RunEnd = SliceEnd | LeaseEnd

/**
 * The lease of the job that this process runs. Its renewals write the job's progress and notice that it is to be cancelled. `signal` aborts
 * the work, with a `RunEnd` as its reason.
 */
export class RunningJob {
  progress: SliceProgress = { progress: 0, phase: 'starting' }
  readonly signal: AbortSignal
  /** aborted when the lease is lost or this process stops, not by a cancellation */
  readonly held: AbortSignal
  readonly #abort = new AbortController()
  readonly #keeper: LeaseKeeper<SliceLease>
  readonly #shutdown: AbortSignal

  constructor({ sql, shutdown }: ControlContext, lease: SliceLease, claimedAt: number) {
    this.#keeper = new LeaseKeeper(LEASE, async () => {
      const renewal = await renewSliceLease(sql, lease, LEASE.leaseSeconds, this.progress)
      if (renewal === 'cancel') this.abort('cancelled')
      return new Set(renewal === 'lost' ? [] : [lease.id])
    })
    this.held = this.#keeper.hold(lease, claimedAt)
    this.signal = AbortSignal.any([this.held, this.#abort.signal])
    this.#shutdown = shutdown
    shutdown.addEventListener('abort', this.#stop)
    if (shutdown.aborted) this.#stop()
  }

  abort(end: RunEnd): void {
    this.#abort.abort(end)
  }

  /** Renews now. false: the store did not answer. */
  renew(): Promise<boolean> {
    return this.#keeper.renew()
  }

  /** Renews now, however long the store takes; `signal` is aborted where the lease could not be kept. */
  async confirm(): Promise<void> {
    while (!(await this.renew()) && !this.signal.aborted) await sleep(STORE_PAUSE_MS)
  }

  close(): void {
    this.#keeper.close()
    this.#shutdown.removeEventListener('abort', this.#stop)
  }

  readonly #stop = (): void => this.#keeper.stopAll()
}
