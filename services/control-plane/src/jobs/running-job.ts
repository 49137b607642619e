import { setTimeout as sleep } from 'node:timers/promises'
import { type JobLease, type JobProgress, renewLease } from '@gateway/store/jobs.js'
import type { ControlContext } from '../platform/context.js'
import { JOB_LEASE, type LeaseEnd, LeaseKeeper } from './leases.js'
import { STORE_PAUSE_MS } from './runner.js'

/** Thrown inside a transaction to roll it back: another process holds the job's lease, and will end the job. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/**
 * The lease of a job that this process runs. Its renewals write the job's progress and detect its cancellation. `signal` aborts the work, with
 * the reason why the run ends.
 * @template End further reasons to end the run
 */
export class RunningJob<End = never> {
  progress: JobProgress = { progress: 0, phase: '' }
  readonly signal: AbortSignal
  /** aborted when the lease is lost or this process stops, not by a cancellation */
  readonly held: AbortSignal
  readonly lease: JobLease
  readonly #abort = new AbortController()
  readonly #keeper: LeaseKeeper<JobLease>
  readonly #shutdown: AbortSignal

  /** @param claimedAt time of the claim's request, by `performance.now()` */
  constructor({ sql, shutdown }: Pick<ControlContext, 'sql' | 'shutdown'>, lease: JobLease, claimedAt: number) {
    this.lease = lease
    this.#keeper = new LeaseKeeper(JOB_LEASE, async () => {
      const renewal = await renewLease(sql, lease, JOB_LEASE.leaseSeconds, this.progress)
      if (renewal === 'cancel') this.abort('cancelled')
      return new Set(renewal === 'lost' ? [] : [lease.id])
    })
    this.held = this.#keeper.hold(lease, claimedAt)
    this.signal = AbortSignal.any([this.held, this.#abort.signal])
    this.#shutdown = shutdown
    shutdown.addEventListener('abort', this.#stop)
    if (shutdown.aborted) this.#stop()
  }

  abort(end: End | LeaseEnd | 'cancelled'): void {
    this.#abort.abort(end)
  }

  /** Renews now. Returns false if the store did not respond. */
  renew(): Promise<boolean> {
    return this.#keeper.renew()
  }

  /** Renews now, however long the store takes; `signal` is aborted if the lease could not be kept. */
  async confirm(): Promise<void> {
    while (!(await this.renew()) && !this.signal.aborted) await sleep(STORE_PAUSE_MS)
  }

  close(): void {
    this.#keeper.close()
    this.#shutdown.removeEventListener('abort', this.#stop)
  }

  readonly #stop = (): void => this.#keeper.stopAll()
}
