import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export const METRIC_PREFIX = 'gateway_control_'

/** The counters of this process. Each feature increments its own; `/metrics` shows all. */
export interface Metrics {
  readonly registry: Registry
  readonly requests: Counter<'method' | 'route' | 'status'>
  readonly requestSeconds: Histogram<'method' | 'route'>
  /** `kind`: admin or service; `reason`: the error code of the refusal */
  readonly authFailures: Counter<'kind' | 'reason'>
  /** `status`: succeeded or failed */
  readonly scans: Counter<'status'>
  /** `kind`: basemap or vector */
  readonly scanSeconds: Histogram<'kind'>
  /** `status`: succeeded, failed or cancelled */
  readonly sliceSeconds: Histogram<'status'>
  readonly deliverySeconds: Histogram<'kind'>
  /** time from the publication of a change until all edges had applied it, or the wait timed out */
  readonly propagationSeconds: Histogram
}

/** Buckets in seconds, for work that takes from moments to hours. */
const WORK_BUCKETS = [0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400]

/** Creates a separate registry for each context, so that tests with several contexts do not mix their counts. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: METRIC_PREFIX })
  // These are gauges, although their suffix is that of counters, so promtool refuses them.
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`${METRIC_PREFIX}nodejs_active_${what}_total`)
  new Gauge({
    name: `${METRIC_PREFIX}uptime_seconds`,
    help: 'Seconds since this process started.',
    registers,
    collect() {
      this.set(process.uptime())
    },
  })
  const scans = new Counter({
    name: `${METRIC_PREFIX}scans_total`,
    help: 'Finished scans by outcome.',
    labelNames: ['status'],
    registers,
  })
  // A rate needs a first value. A series that appears with its first event would hide that event.
  for (const status of ['succeeded', 'failed']) scans.inc({ status }, 0)
  return {
    registry,
    requests: new Counter({
      name: `${METRIC_PREFIX}requests_total`,
      help: 'Answered requests by method, route pattern and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: `${METRIC_PREFIX}request_duration_seconds`,
      help: 'Time from a request head to the end of its answer.',
      labelNames: ['method', 'route'],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 30],
      registers,
    }),
    authFailures: new Counter({
      name: `${METRIC_PREFIX}auth_failures_total`,
      help: 'Requests refused for their credentials, by kind (admin, service) and reason.',
      labelNames: ['kind', 'reason'],
      registers,
    }),
    scans,
    scanSeconds: new Histogram({
      name: `${METRIC_PREFIX}scan_duration_seconds`,
      help: 'Time that scans took, by the kind of their source.',
      labelNames: ['kind'],
      buckets: WORK_BUCKETS,
      registers,
    }),
    sliceSeconds: new Histogram({
      name: `${METRIC_PREFIX}slice_job_duration_seconds`,
      help: 'Time that slice jobs ran, by outcome.',
      labelNames: ['status'],
      buckets: WORK_BUCKETS,
      registers,
    }),
    deliverySeconds: new Histogram({
      name: `${METRIC_PREFIX}delivery_duration_seconds`,
      help: 'Time that attempts to deliver pushes and callbacks took, by kind.',
      labelNames: ['kind'],
      buckets: WORK_BUCKETS,
      registers,
    }),
    propagationSeconds: new Histogram({
      name: `${METRIC_PREFIX}propagation_seconds`,
      help: 'Time from when a change was published until every edge had applied it, or the wait for them was over.',
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10],
      registers,
    }),
  }
}
