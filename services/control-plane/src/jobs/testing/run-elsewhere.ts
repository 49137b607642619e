import { randomUUID } from 'node:crypto'
import type { Sql } from '@gateway/store/connect.js'
import { claimExclusiveJob, type ExclusiveJob, endExclusiveJob } from '@gateway/store/jobs.js'

/** Longer than a test takes. A lease of more than two minutes would count as written before the clock stepped back. */
const LEASE_SECONDS = 110

/** Simulates another process that runs a job during a test; the returned function ends it. */
export async function runElsewhere(sql: Sql, job: ExclusiveJob): Promise<() => Promise<unknown>> {
  const lease = await claimExclusiveJob(sql, job, randomUUID(), LEASE_SECONDS)
  if (lease === null) throw new Error(`the job runs already: ${job.kind}`)
  return () => endExclusiveJob(sql, lease)
}
