import { type HealthCheck, healthCheckSchema } from '@gateway/contracts/health.js'
import { readNewestDetail } from '@gateway/store/audit.js'
import type { Queryable } from '@gateway/store/connect.js'

/** Action of the audit entries that hold results of health checks. The last result is read from there. */
export const HEALTH_CHECK = 'health.check'

/** Returns the result of the last health check, or null. */
export async function readLastHealthCheck(sql: Queryable): Promise<HealthCheck | null> {
  return healthCheckSchema.safeParse(await readNewestDetail(sql, HEALTH_CHECK)).data ?? null
}
