import type { CodedMessage } from '@gateway/contracts/messages.js'
import type { Queryable } from './connect.js'
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
