import { randomUUID } from 'node:crypto'
import type { JobLease } from '@gateway/store/jobs.js'
import type { ControlContext } from '../platform/context.js'
import { JOB_LEASE } from './leases.js'
import { runWork } from './runner.js'
import { RunningJob } from './running-job.js'

/** Interval in ms of polls, which find jobs of dead runners after their leases expire; new jobs are announced. */
export const POLL_MS = 2000

/** Jobs of one kind. This process runs one of them at a time. */
export interface JobQueue<Claimed extends { readonly lease: JobLease }, End> {
  /** plural name for the log */
  readonly name: string
  /** channel on which the store announces new jobs and cancellations */
  readonly channel: string
  /** null: there is nothing to run, or it runs elsewhere */
  claim(owner: string, leaseSeconds: number): Promise<Claimed | null>
  run(claimed: Claimed, running: RunningJob<End>): Promise<unknown>
}

/** Runs the jobs of a queue in sequence until the process stops. Any number of control planes may do so on one store. */
export async function runQueue<Claimed extends { readonly lease: JobLease }, End = never>(
  ctx: ControlContext,
  queue: JobQueue<Claimed, End>,
): Promise<void> {
  const owner = randomUUID()
  let running: RunningJob<End> | null = null
  const claim = async () => {
    const claimedAt = performance.now()
    const claimed = await queue.claim(owner, JOB_LEASE.leaseSeconds)
    if (claimed === null) return false
    running = new RunningJob(ctx, claimed.lease, claimedAt)
    try {
      await queue.run(claimed, running)
    } finally {
      running.close()
      running = null
    }
    return true
  }
  await runWork(ctx, {
    name: queue.name,
    channel: queue.channel,
    claim,
    msToNext: async () => POLL_MS,
    // The announcement may be the cancellation of the running job.
    onAnnounced: () => void running?.renew(),
  })
}
