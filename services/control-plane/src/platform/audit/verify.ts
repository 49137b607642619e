import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditVerification, verifyAudit } from '@gateway/store/audit-chain.js'
import { Gauge } from 'prom-client'
import type { BackgroundLoop } from '../background.js'
import type { ControlContext } from '../context.js'
import { METRIC_PREFIX } from '../metrics.js'

/** Interval of verifications. A year of entries takes some seconds of one processor. */
const EVERY_MS = 24 * 3_600_000
/** Delay after a start, which has other work to do. */
const FIRST_AFTER_MS = 60_000

const NAME = `${METRIC_PREFIX}audit_mismatch`

/** Returns a function that verifies the audit, sets the metric of this process, and logs a mismatch. */
export function auditVerifier({
  sql,
  metrics,
  log,
}: Pick<ControlContext, 'sql' | 'metrics' | 'log'>): (signal: AbortSignal) => Promise<AuditVerification> {
  const known = metrics.registry.getSingleMetric(NAME) as Gauge | undefined
  const gauge =
    known ??
    new Gauge({
      name: NAME,
      help: '1 where the last verification of the audit by this process found an entry that does not match; 0 where it found none.',
      registers: [metrics.registry],
    })
  return async (signal) => {
    const outcome = await verifyAudit(sql, signal)
    const { first_mismatch: mismatch, count, head } = outcome
    gauge.set(mismatch === null ? 0 : 1)
    if (mismatch !== null) log.error({ mismatch, count, head }, 'the audit is not as it was written')
    return outcome
  }
}

/** Verifies the audit once a day. */
export const auditWatch: BackgroundLoop = {
  name: 'audit watch',
  async run(ctx) {
    const { shutdown, log } = ctx
    const verify = auditVerifier(ctx)
    for (let wait = FIRST_AFTER_MS; !shutdown.aborted; wait = EVERY_MS) {
      await sleep(wait, undefined, { signal: shutdown }).catch(() => {})
      if (shutdown.aborted) return
      await verify(shutdown).catch((error: Error) => {
        if (!shutdown.aborted)
          log.warn({ err: error.message }, 'the audit could not be verified; it is tried again in a day')
      })
    }
  },
}
