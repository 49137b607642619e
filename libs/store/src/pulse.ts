import type { Queryable } from './connect.js'

/** Marks of what operators look at: where one differs from the last, something of its kind has changed in between. */
export interface Pulse {
  readonly catalog: string
  readonly scans: string
  readonly deliveries: string
  readonly audit: string
}

/** One look at indexes and small tables, cheap enough to be taken every moment. */
export async function readPulse(sql: Queryable): Promise<Pulse> {
  const [row] = await sql<Pulse[]>`
    SELECT (SELECT revision FROM revision_counter)::text AS catalog,
           (SELECT concat_ws(' ', count(*), max(started_at), max(finished_at)) FROM scans) AS scans,
           (SELECT coalesce(max(updated_at)::text, '') FROM deliveries) AS deliveries,
           (SELECT coalesce(max(id), 0) FROM audit)::text AS audit`
  return row as Pulse
}
