import type { Queryable } from './sql.js'

/** Pending work of the whole cluster, as counts. The age, in seconds, is that of the oldest job or delivery that is due and has not begun. */
export interface Backlog {
  readonly slicePending: number
  readonly sliceRunning: number
  readonly sliceOldestSeconds: number
  readonly deliveriesWaiting: number
  readonly deliveriesOldestSeconds: number
  /** number of active tokens that expire within TOKENS_EXPIRE_WITHIN_DAYS */
  readonly tokensExpiring: number
}

/** Days before its expiry in which a token should be renewed. */
export const TOKENS_EXPIRE_WITHIN_DAYS = 14

export async function readBacklog(sql: Queryable): Promise<Backlog> {
  const [row] = await sql<[Backlog]>`
    SELECT s.*, d.*, t.* FROM
      (SELECT count(*) FILTER (WHERE status = 'pending')::int AS "slicePending",
              count(*) FILTER (WHERE status = 'running')::int AS "sliceRunning",
              coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE status = 'pending')), 0)::float8 AS "sliceOldestSeconds"
       FROM slice_jobs WHERE status IN ('pending', 'running')) s,
      (SELECT count(*)::int AS "deliveriesWaiting",
              greatest(coalesce(extract(epoch FROM now() - min(due_at)), 0), 0)::float8 AS "deliveriesOldestSeconds"
       FROM deliveries WHERE due_at IS NOT NULL) d,
      (SELECT count(*)::int AS "tokensExpiring" FROM tokens
       WHERE NOT preview AND kind = 'service' AND disabled_at IS NULL AND expires_at > now()
         AND expires_at <= now() + make_interval(days => ${TOKENS_EXPIRE_WITHIN_DAYS})) t`
  return row
}
