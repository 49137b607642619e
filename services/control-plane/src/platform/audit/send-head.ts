import { setTimeout as sleep } from 'node:timers/promises'
import { auditHeadReceivedAt, insertAuditHead, isAuditHeadDue } from '@gateway/store/deliveries.js'
import { readTargets } from '@gateway/store/targets.js'
import { Gauge } from 'prom-client'
import type { BackgroundLoop } from '../background.js'
import type { ControlContext } from '../context.js'
import { METRIC_PREFIX } from '../metrics.js'
import { auditVerifier } from './verify.js'

/** How late the head of a day may be, and how old the metric. */
const LOOK_EVERY_MS = 10 * 60_000
/** A start has other work to do. */
const FIRST_AFTER_MS = 30_000

const NAME = `${METRIC_PREFIX}audit_head_received_timestamp_seconds`

type Context = Pick<ControlContext, 'sql' | 'metrics' | 'log' | 'settings' | 'now'>

/** Sends the head of the audit to `AUDIT_HEAD_TARGET` once a day. Every control plane looks; the store lets one of them send it. */
export const auditHeadPush: BackgroundLoop = {
  name: 'head of the audit',
  async run(ctx) {
    const { shutdown, log, settings } = ctx
    receivedGauge(ctx)
    if (settings.auditHeadTarget === null) return
    for (let wait = FIRST_AFTER_MS; !shutdown.aborted; wait = LOOK_EVERY_MS) {
      await sleep(wait, undefined, { signal: shutdown, ref: false }).catch(() => {})
      if (shutdown.aborted) return
      await sendHeadIfDue(ctx, settings.auditHeadTarget, shutdown).catch((error: Error) => {
        if (!shutdown.aborted) log.warn({ err: error.message }, 'the head of the audit cannot be sent now')
      })
    }
  },
}

/**
 * Verifies the audit and queues its head for the target, as a delivery with the usual retries; the head includes a mismatch. Returns true if the
 * head was due and this call queued it.
 */
export async function sendHeadIfDue(ctx: Context, code: string, signal: AbortSignal): Promise<boolean> {
  const { sql, log, now } = ctx
  const [target] = await readTargets(sql, code)
  if (target === undefined || target.kind === 'purge') {
    log.warn({ target: code }, 'AUDIT_HEAD_TARGET must name a target of kind http, directory or bucket')
    return false
  }
  receivedGauge(ctx).set(((await auditHeadReceivedAt(sql, code))?.getTime() ?? 0) / 1000)
  if (!(await isAuditHeadDue(sql, code))) return false
  const body = { ...(await auditVerifier(ctx)(signal)), at: new Date(now()).toISOString() }
  return sql.begin((tx) => insertAuditHead(tx, code, body))
}

/** Returns the gauge, which has no value until a look at the target: 0 would mean that the target has never received a head. */
function receivedGauge({ metrics: { registry } }: Pick<ControlContext, 'metrics'>): Gauge {
  const known = registry.getSingleMetric(NAME) as Gauge | undefined
  const help = 'When AUDIT_HEAD_TARGET has received the newest head of the audit, in seconds since 1970; 0: never.'
  if (known !== undefined) return known
  const gauge = new Gauge({ name: NAME, help, registers: [registry] })
  gauge.remove()
  return gauge
}
