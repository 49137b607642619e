import { randomUUID } from 'node:crypto'
import { openSession, type Sql, type Transaction } from '@gateway/store/connect.js'
import { claimExclusiveJob, type ExclusiveJob, endExclusiveJob, holdLease, type JobLease } from '@gateway/store/jobs.js'
import type { ControlContext } from '../platform/context.js'
import { JOB_LEASE } from './leases.js'
import { LeaseLost, RunningJob } from './running-job.js'

/** Time limit of one statement of `writeUnderLease`: a hundred thousand rows take seconds; no lease holder may take minutes. */
const STATEMENT_TIMEOUT_MS = 60_000

/** Runs `work` while no other process of the cluster runs the same job; returns null if one does. */
export async function exclusively<T>(
  ctx: Pick<ControlContext, 'sql' | 'shutdown'>,
  job: ExclusiveJob,
  work: (running: RunningJob) => Promise<T>,
): Promise<T | null> {
  const claimedAt = performance.now()
  const lease = await claimExclusiveJob(ctx.sql, job, randomUUID(), JOB_LEASE.leaseSeconds)
  if (lease === null) return null
  const running = new RunningJob(ctx, lease, claimedAt)
  try {
    return await work(running)
  } catch (error) {
    throw error === running.held.reason ? new LeaseLost(`the lease of the job was ${error}`) : error
  } finally {
    running.close()
    // If the store does not respond, the lease expires.
    await endExclusiveJob(ctx.sql, lease).catch(() => {})
  }
}

/** Runs a transaction that commits only if the lease of an exclusive job is held. Throws LeaseLost otherwise. */
export async function writeUnderLease<T>(sql: Sql, lease: JobLease, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const session = openSession(sql, STATEMENT_TIMEOUT_MS)
  try {
    const result = await session.begin(async (tx) => {
      if (!(await holdLease(tx, lease))) throw new LeaseLost('another process holds the lease')
      return await work(tx)
    })
    return result as T
  } finally {
    await session.end({ timeout: 5 }).catch(() => {})
  }
}
