import type { Queryable } from './connect.js'

/** Marks of what operators look at: where one differs from the last, something of its kind has changed in between. */
export interface Pulse {
  readonly catalog: string
  readonly scans: string
  readonly deliveries: string
  readonly slicing: string
  readonly audit: string
}

/** One look at indexes and small tables, cheap enough to be taken every moment. */
export async function readPulse(sql: Queryable): Promise<Pulse> {
  const [row] = await sql<Pulse[]>`
    SELECT (SELECT revision FROM revision_counter)::text AS catalog,
           (SELECT concat_ws(' ', count(*), max(started_at), max(finished_at)) FROM scans) AS scans,
           (SELECT coalesce(max(updated_at)::text, '') FROM deliveries) AS deliveries,
           concat_ws(' ',
             (SELECT max(submission) FROM slice_jobs),
             (SELECT count(*) FROM slice_jobs WHERE status IN ('pending', 'running')),
             (SELECT concat_ws(' ', id, round(progress::numeric, 1)) FROM slice_jobs WHERE status = 'running' LIMIT 1)) AS slicing,
           (SELECT coalesce(max(id), 0) FROM audit)::text AS audit`
  return row as Pulse
}
