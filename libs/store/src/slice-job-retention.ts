import type { Sql } from './connect.js'

/** Maximum number of kept jobs that have ended. Above it the oldest are deleted early: jobs that fail at once would fill the store within days. */
const KEPT_JOBS = 10_000

/** Number of rows that one statement deletes, so that it holds its locks only briefly. */
const BATCH = 1000

/**
 * Deletes jobs that ended more than `days` ago, and the oldest beyond `KEPT_JOBS`, with the records of their callbacks. The sources of their
 * layers stay known, and a job with a pending callback stays. Returns the number of deleted jobs.
 */
export async function pruneSliceJobs(sql: Sql, days: number, kept: number = KEPT_JOBS): Promise<number> {
  let deleted = 0
  for (let batch = BATCH; batch === BATCH; deleted += batch) batch = await deleteOldJobs(sql, days, kept)
  return deleted
}

async function deleteOldJobs(sql: Sql, days: number, kept: number): Promise<number> {
  const { count } = await sql`
    WITH old AS (
      SELECT id FROM slice_jobs
      WHERE status IN ('succeeded', 'failed')
        AND finished_at <= greatest(now() - make_interval(days => ${days}), (
          SELECT finished_at FROM slice_jobs WHERE finished_at IS NOT NULL ORDER BY finished_at DESC OFFSET ${kept} LIMIT 1))
        AND NOT EXISTS (SELECT FROM deliveries WHERE job_id = slice_jobs.id AND due_at IS NOT NULL)
      ORDER BY finished_at LIMIT ${BATCH}
      FOR UPDATE SKIP LOCKED),
    callbacks AS (DELETE FROM deliveries USING old WHERE deliveries.job_id = old.id)
    DELETE FROM slice_jobs USING old WHERE slice_jobs.id = old.id`
  return count
}

/** Returns the ids among these whose jobs have not ended. */
export async function openSliceJobs(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM slice_jobs WHERE id = ANY(${ids as string[]}::uuid[]) AND status IN ('pending', 'running')`
  return new Set(rows.map(({ id }) => id))
}

/** Returns the ids among these that belong to jobs. */
export async function knownSliceJobs(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`SELECT id FROM slice_jobs WHERE id = ANY(${ids as string[]}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}
