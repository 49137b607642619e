import type { DeliveryKind } from '@gateway/store/deliveries.js'
import { Counter } from 'prom-client'
import { METRIC_PREFIX, type Metrics } from '../metrics.js'
import type { Outcome } from './outcome.js'

/** Counts attempts by what they delivered and how they ended. */
export function countAttempts({ registry }: Metrics): (kind: DeliveryKind, outcome: Outcome) => void {
  const attempts = new Counter({
    name: `${METRIC_PREFIX}delivery_attempts_total`,
    help: 'Attempts to deliver pushes and callbacks, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  })
  return (kind, { delivered }) => attempts.inc({ kind, outcome: delivered ? 'succeeded' : 'failed' })
}
