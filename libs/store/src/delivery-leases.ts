import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import type { SentRequest } from '@gateway/contracts/push.js'
import type { Queryable } from './connect.js'
import type { Delivery, Lane } from './deliveries.js'
import { isLeased } from './jobs.js'
import type { KeptTrace } from './kept-trace.js'
import type { TargetWithSecret } from './targets.js'

/** A delivery that this process may attempt, as long as it renews the lease. */
export interface ClaimedDelivery extends Omit<Delivery, 'dueAt' | 'updatedAt' | 'acknowledgedAt' | 'export'> {
  readonly fence: number
  readonly lane: Lane
  readonly destination: string
  /** for a callback: the job */
  readonly body: Readonly<Record<string, unknown>> | null
  /** null: it starts a trace */
  readonly trace: KeptTrace | null
  /** null for callbacks */
  readonly target: TargetWithSecret | null
}

export interface Claim {
  readonly owner: string
  readonly lane: Lane
  readonly limit: number
  /** maximum number of concurrent deliveries to one destination, over all control planes */
  readonly perDestination: number
  readonly leaseSeconds: number
}

const GONE = coded('delivery_interrupted_gone')

/**
 * Claims due deliveries, the longest due first, up to the limit of each destination. Rows beyond the limit, such as a thousand that hang, are
 * skipped without being read. An expired lease is taken over, and leaves a line about the interrupted attempt.
 */
export async function claimDeliveries(sql: Queryable, claim: Claim): Promise<ClaimedDelivery[]> {
  return sql<ClaimedDelivery[]>`
    WITH RECURSIVE destinations (name) AS (
      (SELECT destination FROM deliveries WHERE lane = ${claim.lane} AND due_at IS NOT NULL ORDER BY destination LIMIT 1)
      UNION ALL
      SELECT (SELECT destination FROM deliveries
              WHERE lane = ${claim.lane} AND due_at IS NOT NULL AND destination > name ORDER BY destination LIMIT 1)
      FROM destinations WHERE name IS NOT NULL
    ), due AS (
      SELECT candidate.* FROM destinations CROSS JOIN LATERAL (
        SELECT id, due_at, lease_owner, leased_at, lease_until FROM deliveries
        WHERE lane = ${claim.lane} AND destination = destinations.name AND due_at <= now()
          AND (lease_until IS NULL OR NOT ${isLeased(sql)})
        ORDER BY due_at
        LIMIT greatest(0, ${claim.perDestination} - (
          SELECT count(*) FROM deliveries
          WHERE lane = ${claim.lane} AND destination = destinations.name AND due_at IS NOT NULL AND ${isLeased(sql)}))
        FOR UPDATE SKIP LOCKED
      ) candidate
      ORDER BY candidate.due_at LIMIT ${claim.limit}
    ), interrupted AS (
      INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, message, message_coded)
      SELECT id, leased_at, greatest(0, 1000 * extract(epoch FROM lease_until - leased_at)), 'interrupted', ${textOf(GONE)}, ${sql.json(GONE)}
      FROM due WHERE lease_owner IS NOT NULL
    ), claimed AS (
      UPDATE deliveries SET lease_owner = ${claim.owner}, leased_at = now(), fence = fence + 1,
                            lease_until = now() + make_interval(secs => ${claim.leaseSeconds})
      WHERE id IN (SELECT id FROM due) RETURNING *
    )
    SELECT c.id, c.kind, c.status, c.attempts, c.message, c.message_coded AS "messageCoded", c.fence, c.lane, c.destination, c.body, c.trace, c.url, c.version,
           c.target_code AS "targetCode", c.basemap_code AS "basemapCode", c.vector_code AS "vectorCode", c.job_id AS "jobId", c.export_id AS "exportId",
           c.created_at AS "createdAt",
           CASE WHEN t.code IS NOT NULL THEN json_build_object(
             'code', t.code, 'name', t.name, 'kind', t.kind, 'url', t.url, 'path', t.path, 'mode', t.mode, 'enabled', t.enabled,
             'secret', t.secret) END AS target
    FROM claimed c LEFT JOIN targets t ON t.code = c.target_code`
}

/** A claim of this process: the delivery and its fencing token. */
export interface Lease {
  readonly id: string
  readonly fence: number
}

/** Renews leases, and returns the ids of those that this process still holds. */
export async function renewLeases(
  sql: Queryable,
  owner: string,
  leases: readonly Lease[],
  leaseSeconds: number,
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    WITH held AS (
      SELECT deliveries.id
      FROM deliveries JOIN unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.fence)}::bigint[]) AS known (id, fence)
        ON deliveries.id = known.id AND deliveries.fence = known.fence
      WHERE lease_owner = ${owner}
      ORDER BY deliveries.id FOR NO KEY UPDATE OF deliveries
    )
    UPDATE deliveries SET lease_until = now() + make_interval(secs => ${leaseSeconds})
    FROM held WHERE deliveries.id = held.id RETURNING deliveries.id`
  return new Set(rows.map((row) => row.id))
}

/** The outcome of one attempt, for operators. */
export interface AttemptLine {
  readonly startedAt: Date
  readonly durationMs: number
  readonly outcome: 'succeeded' | 'failed' | 'interrupted'
  readonly httpStatus: number | null
  readonly said: CodedMessage
  readonly answer: string
  readonly request?: SentRequest | null
}

/** `retrying` with the seconds until the next attempt, or one of the two final states. */
export type Settlement =
  | { readonly status: 'succeeded' | 'failed' }
  | { readonly status: 'retrying'; readonly waitSeconds: number }

/** Ends an attempt: writes its line and the new state, and releases the lease. Returns false, without writing, if the lease was lost. */
export async function settleDelivery(
  sql: Queryable,
  owner: string,
  lease: Lease,
  settlement: Settlement,
  line: AttemptLine,
): Promise<boolean> {
  const message = textOf(line.said)
  const succeeded = settlement.status === 'succeeded'
  const waitSeconds = settlement.status === 'retrying' ? settlement.waitSeconds : null
  const rows = await sql`
    WITH settled AS (
      UPDATE deliveries SET
        status = ${settlement.status}, attempts = attempts + 1, updated_at = now(),
        message = ${succeeded ? '' : message}, message_coded = ${succeeded ? null : sql.json(line.said)},
        due_at = now() + make_interval(secs => ${waitSeconds}::float8), lease_owner = NULL, leased_at = NULL, lease_until = NULL
      WHERE id = ${lease.id} AND lease_owner = ${owner} AND fence = ${lease.fence} RETURNING id
    )
    INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, http_status, message, message_coded, answer, request)
    SELECT id, ${line.startedAt}, ${Math.round(line.durationMs)}, ${line.outcome}, ${line.httpStatus}::int, ${message}, ${sql.json(line.said)}, ${line.answer},
           ${sentRequest(sql, line)}
    FROM settled RETURNING id`
  return rows.length > 0
}

/** Releases a lease whose attempt this process aborted by itself. The delivery stays due, and the attempt does not count. */
export async function releaseDelivery(sql: Queryable, owner: string, lease: Lease, line: AttemptLine): Promise<void> {
  await sql`
    WITH released AS (
      UPDATE deliveries SET lease_owner = NULL, leased_at = NULL, lease_until = NULL
      WHERE id = ${lease.id} AND lease_owner = ${owner} AND fence = ${lease.fence} RETURNING id
    )
    INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, message, message_coded, request)
    SELECT id, ${line.startedAt}, ${Math.round(line.durationMs)}, 'interrupted', ${textOf(line.said)}, ${sql.json(line.said)}, ${sentRequest(sql, line)} FROM released`
}

function sentRequest(sql: Queryable, { request = null }: AttemptLine) {
  return request === null ? sql`NULL::jsonb` : sql.json(request)
}

/**
 * Returns the seconds until the next delivery falls due or the next lease can expire. Negative for an event within the last second, which the
 * previous claim may have been too early for. null: no such event.
 */
export async function secondsToNextDelivery(sql: Queryable): Promise<number | null> {
  const [row] = await sql<{ seconds: number | null }[]>`
    SELECT extract(epoch FROM min(greatest(due_at, lease_until)) - now())::float8 AS seconds FROM deliveries
    WHERE due_at IS NOT NULL AND greatest(due_at, lease_until) > now() - interval '1 second'`
  return row?.seconds ?? null
}
