import type { Queryable } from './connect.js'

/** One mark for each topic of the console. A mark that differs from the last one means a change in that topic. */
export interface ChangeMarks {
  readonly catalog: string
  readonly canaries: string
  readonly scans: string
  readonly deliveries: string
  readonly exports: string
  readonly seeds: string
  readonly slicing: string
  readonly audit: string
}

/** Reads only indexes and small tables, so it is cheap enough for once a second. */
export async function readChangeMarks(sql: Queryable): Promise<ChangeMarks> {
  const [row] = await sql<ChangeMarks[]>`
    SELECT (SELECT revision FROM revision_counter)::text AS catalog,
           (SELECT concat_ws(' ', count(*), sum(before_requests), sum(after_requests)) FROM default_switches WHERE status = 'canary') AS canaries,
           (SELECT concat_ws(' ', count(*), max(started_at), max(finished_at), sum(steps), (SELECT count(*) FROM scan_queue)) FROM scans) AS scans,
           (SELECT coalesce(max(updated_at)::text, '') FROM deliveries) AS deliveries,
           (SELECT concat_ws(' ', count(*), max(started_at), max(finished_at), sum(progress)) FROM exports) AS exports,
           (SELECT concat_ws(' ', count(*), max(started_at), max(finished_at), sum(done), sum(failed)) FROM seeds) AS seeds,
           concat_ws(' ',
             (SELECT max(submission) FROM slice_jobs),
             (SELECT count(*) FROM slice_jobs WHERE status IN ('pending', 'running')),
             (SELECT concat_ws(' ', id, round(progress::numeric, 1)) FROM slice_jobs WHERE status = 'running' LIMIT 1)) AS slicing,
           (SELECT coalesce(max(id), 0) FROM audit)::text AS audit`
  return row as ChangeMarks
}
