import type { CodedMessage } from '@gateway/contracts/messages.js'
import type { Queryable, Sql } from './connect.js'
import type { AttemptLine } from './delivery-leases.js'

/** Maximum number of attempts that are kept and listed for one delivery. With three retries for each start by hand, this is many starts. */
export const MAX_LISTED_ATTEMPTS = 200

/** A stored attempt. A version without message codes wrote it if it has none. */
export type StoredAttempt = Omit<AttemptLine, 'said'> & {
  readonly message: string
  readonly messageCoded: CodedMessage | null
}

/** Lists the attempts of a delivery, newest first. */
export async function listAttempts(sql: Queryable, deliveryId: string): Promise<StoredAttempt[]> {
  return sql<StoredAttempt[]>`
    SELECT started_at AS "startedAt", duration_ms AS "durationMs", outcome, http_status AS "httpStatus", message, message_coded AS "messageCoded", answer, request
    FROM delivery_attempts WHERE delivery_id = ${deliveryId} ORDER BY id DESC LIMIT ${MAX_LISTED_ATTEMPTS}`
}

/** Days after its end at which a push record is deleted with its attempts, unless it is one of the newest. */
export const KEPT_DAYS = 90

/** Number of records of each kind that are always kept, so that the list of recent ones is not empty after a quiet time. */
export const KEPT_NEWEST = 20

/** Number of rows that one statement deletes, so that it holds its locks only briefly. */
const BATCH = 1000

/**
 * Deletes records that lists no longer show: push records that ended long ago, the attempts of callbacks (the callbacks are kept as long as their
 * job), and for every delivery the attempts beyond the listed ones. Pending deliveries stay. Several processes may run it at once. Returns the
 * number of deleted records.
 */
export async function pruneDeliveries(sql: Sql): Promise<number> {
  let deleted = 0
  for (let batch = BATCH; batch === BATCH; deleted += batch) batch = await deleteOldPushes(sql)
  await deleteOldCallbackAttempts(sql)
  await deleteUnlistedAttempts(sql)
  return deleted
}

async function deleteOldPushes(sql: Sql): Promise<number> {
  const { count } = await sql`
    DELETE FROM deliveries WHERE id IN (
      SELECT id FROM deliveries
      WHERE due_at IS NULL AND kind IN ('basemap_push', 'vector_push', 'cache_purge', 'event', 'notification')
        AND updated_at < now() - make_interval(days => ${KEPT_DAYS})
        AND id NOT IN (
          SELECT newest.id FROM (VALUES ('basemap_push'), ('vector_push'), ('cache_purge'), ('event'), ('notification')) AS kinds (kind) CROSS JOIN LATERAL (
            SELECT id FROM deliveries WHERE deliveries.kind = kinds.kind ORDER BY created_at DESC, id DESC LIMIT ${KEPT_NEWEST}
          ) newest)
      ORDER BY updated_at LIMIT ${BATCH}
      FOR UPDATE SKIP LOCKED)`
  return count
}

async function deleteOldCallbackAttempts(sql: Sql): Promise<void> {
  await sql`
    DELETE FROM delivery_attempts USING deliveries
    WHERE delivery_id = deliveries.id AND kind = 'slice_callback' AND due_at IS NULL
      AND updated_at < now() - make_interval(days => ${KEPT_DAYS})`
}

/** A control plane that repeatedly dies at the same delivery leaves a line each time. */
async function deleteUnlistedAttempts(sql: Sql): Promise<void> {
  await sql`
    DELETE FROM delivery_attempts WHERE id IN (
      SELECT attempts.id
      FROM (SELECT delivery_id FROM delivery_attempts GROUP BY delivery_id HAVING count(*) > ${MAX_LISTED_ATTEMPTS}) crowded
      CROSS JOIN LATERAL (
        SELECT id FROM delivery_attempts WHERE delivery_id = crowded.delivery_id ORDER BY id DESC OFFSET ${MAX_LISTED_ATTEMPTS}
      ) attempts)`
}
