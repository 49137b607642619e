import { randomUUID } from 'node:crypto'
import type { Sql } from '@gateway/store/connect.js'
import { claimExclusiveJob, type ExclusiveJob, endExclusiveJob } from '@gateway/store/jobs.js'

/** Simulates another process that runs a job during a test; the returned function ends it. */
export async function runElsewhere(sql: Sql, job: ExclusiveJob): Promise<() => Promise<unknown>> {
  const lease = await claimExclusiveJob(sql, job, randomUUID(), 600)
  if (lease === null) throw new Error(`the job runs already: ${job.kind}`)
  return () => endExclusiveJob(sql, lease)
}
