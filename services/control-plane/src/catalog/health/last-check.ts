import { type HealthCheck, healthCheckSchema } from '@gateway/contracts/health.js'
import { readNewestDetail } from '@gateway/store/audit.js'
import type { Queryable } from '@gateway/store/connect.js'

/** The action in the audit that holds results of health checks; the last one is read from there. */
export const HEALTH_CHECK = 'health.check'

/** The result of the last health check, whoever requested it; null: there was none. */
export async function readLastHealthCheck(sql: Queryable): Promise<HealthCheck | null> {
  return healthCheckSchema.safeParse(await readNewestDetail(sql, HEALTH_CHECK)).data ?? null
}
