import { openObjectStore } from '@gateway/core/object-storage/open.js'
import { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import type { DeliveryKind } from '@gateway/store/deliveries.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import { Counter } from 'prom-client'
import type { BackgroundLoop } from '../platform/background.js'
import type { ControlContext } from '../platform/context.js'
import { exportDirectory } from '../platform/files/export-files.js'
import { METRIC_PREFIX } from '../platform/metrics.js'
import { keptTrace, traced } from '../platform/trace.js'
import { type DeliverTools, deliver } from './deliver.js'
import type { Outcome } from './outcome.js'
import type { PayloadBuilders } from './payload.js'
import { DeliveryRunner } from './runner/runner.js'

/** Makes one attempt as a span of the trace that caused the delivery: that of the job, or of the request for a push. */
function tracedAttempt(
  ctx: ControlContext,
  claimed: ClaimedDelivery,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const { id, kind, jobId } = claimed
  const { parent, fields: kept } = keptTrace(claimed.trace)
  const attributes = { 'gateway.delivery': id, 'gateway.delivery_kind': kind }
  const fields = { ...kept, delivery: id, ...(jobId === null ? {} : { job: jobId }) }
  const failure = ({ delivered, message }: Outcome) => (delivered ? null : message)
  return traced(ctx, `deliver ${kind}`, { kind: 'client', parent, attributes, fields }, attempt, failure)
}

/** Part of the drain time that remains after waiting for messages: enough to record their outcomes. */
const RECORD_MS = 2000

/** Returns the loop that attempts deliveries, with the payload builders of the features. */
export function deliveryLoop(payloads: PayloadBuilders): BackgroundLoop {
  return {
    name: 'deliveries',
    run: (ctx) => {
      const { sql, log, now, settings } = ctx
      const attempts = new Counter({
        name: `${METRIC_PREFIX}delivery_attempts_total`,
        help: 'Attempts to deliver pushes and callbacks, by kind and outcome.',
        labelNames: ['kind', 'outcome'],
        registers: [ctx.metrics.registry],
      })
      // A rate needs a first value. A series that appears with its first event would hide that event.
      for (const kind of [
        'basemap_push',
        'vector_push',
        'slice_callback',
        'cache_purge',
        'event',
        'notification',
      ] satisfies DeliveryKind[])
        for (const outcome of ['succeeded', 'failed']) attempts.inc({ kind, outcome }, 0)
      const guard = new DestinationGuard(settings)
      const tools: DeliverTools = {
        guard,
        now,
        openStore: (url) => openObjectStore(url, settings),
        scratch: exportDirectory(settings.dataDir),
        mail: { url: settings.smtpUrl, from: settings.smtpFrom },
        payloadOf: (one) => payloads[one.kind](ctx, one),
      }
      const runner = new DeliveryRunner({
        sql,
        log,
        now,
        waitsSeconds: settings.retryWaitsSeconds,
        drainMs: Math.max(0, settings.drainSeconds * 1000 - RECORD_MS),
        within: (claimed, attempt) => tracedAttempt(ctx, claimed, attempt),
        deliver: (claimed, signal) => deliver(tools, claimed, signal),
        ended: ({ kind }, { delivered }, seconds) => {
          attempts.inc({ kind, outcome: delivered ? 'succeeded' : 'failed' })
          ctx.metrics.deliverySeconds.observe({ kind }, seconds)
        },
      })
      return runner.run(ctx.shutdown)
    },
  }
}
