import type { BackgroundLoop } from '../background.js'
import { DestinationGuard } from './guard/guard.js'
import { countAttempts } from './metrics.js'
import { DeliveryRunner } from './runner/runner.js'
import { deliver } from './senders/deliver.js'

/** What is left of the drain time after messages were waited for: enough to write down how they ended. */
const WRITE_DOWN_MS = 2_000

export const deliveryLoops: readonly BackgroundLoop[] = [
  {
    name: 'deliveries',
    run: (ctx) => {
      const { sql, log, now, settings } = ctx
      const sender = { sql, now, guard: new DestinationGuard(settings), vectorBaseUrl: settings.vectorPublicBaseUrl }
      const count = countAttempts(ctx.metrics)
      const runner = new DeliveryRunner({
        sql,
        log,
        now,
        waitsSeconds: settings.retryWaitsSeconds,
        drainMs: Math.max(0, settings.drainSeconds * 1000 - WRITE_DOWN_MS),
        deliver: (claimed, signal) => deliver(sender, claimed, signal),
        ended: (claimed, outcome) => count(claimed.kind, outcome),
      })
      return runner.run(ctx.shutdown)
    },
  },
]
