import { type HealthCheck, healthCheckSchema } from '@gateway/contracts/health.js'
import { insertAudit, readNewestDetail } from '@gateway/store/audit.js'
import type { Queryable, Transaction } from '@gateway/store/connect.js'
import type { AdminIdentity } from '../http/app-type.js'

const ACTION = 'health.check'

/** Who asked for a check and what it found; the audit is where the last result is read again. */
export function noteHealthCheck(tx: Transaction, admin: AdminIdentity, result: HealthCheck): Promise<void> {
  return insertAudit(tx, { ...admin, action: ACTION, subject: 'catalog', detail: { ...result } })
}

/** What the last check found, whoever asked for it; null: there was none. */
export async function readLastHealthCheck(sql: Queryable): Promise<HealthCheck | null> {
  return healthCheckSchema.safeParse(await readNewestDetail(sql, ACTION)).data ?? null
}
