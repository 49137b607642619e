import type { Queryable } from './connect.js'
import type { AttemptLine } from './delivery-leases.js'

/** Attempts listed of one delivery, and kept: with three retries for each start by hand, this is many starts by hand. */
export const MAX_LISTED_ATTEMPTS = 200

/** The attempts of a delivery, the newest first. */
export async function listAttempts(sql: Queryable, deliveryId: string): Promise<AttemptLine[]> {
  return sql<AttemptLine[]>`
    SELECT started_at AS "startedAt", duration_ms AS "durationMs", outcome, http_status AS "httpStatus", message, answer, request
    FROM delivery_attempts WHERE delivery_id = ${deliveryId} ORDER BY id DESC LIMIT ${MAX_LISTED_ATTEMPTS}`
}
