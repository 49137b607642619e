import type { DeliveryKind } from '@gateway/store/deliveries.js'
import { Counter } from 'prom-client'
import type { BackgroundLoop } from '../platform/background.js'
import { METRIC_PREFIX } from '../platform/metrics.js'
import { DestinationGuard } from '../platform/outgoing/guard.js'
import { deliver } from './deliver.js'
import type { PayloadBuilders } from './payload.js'
import { DeliveryRunner } from './runner/runner.js'

/** What is left of the drain time after messages were waited for: enough to record how they ended. */
const RECORD_MS = 2000

/** The loop that attempts deliveries, with the features' builders of what they send. */
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
      // A rate needs a first value: series that appear with their first event hide it.
      for (const kind of ['basemap_push', 'vector_push', 'slice_callback'] satisfies DeliveryKind[])
        for (const outcome of ['succeeded', 'failed']) attempts.inc({ kind, outcome }, 0)
      const guard = new DestinationGuard(settings)
      const runner = new DeliveryRunner({
        sql,
        log,
        now,
        waitsSeconds: settings.retryWaitsSeconds,
        drainMs: Math.max(0, settings.drainSeconds * 1000 - RECORD_MS),
        deliver: (claimed, signal) =>
          deliver({ guard, now, payloadOf: (one) => payloads[one.kind](ctx, one) }, claimed, signal),
        ended: ({ kind }, { delivered }) => attempts.inc({ kind, outcome: delivered ? 'succeeded' : 'failed' }),
      })
      return runner.run(ctx.shutdown)
    },
  }
}
