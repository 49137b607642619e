import type { MetricsReport } from '../metrics/registry.js'

/** What a worker tells its supervisor. */
export type FromWorker =
  | { readonly kind: 'listening' }
  /** it has read its catalog */
  | { readonly kind: 'loaded' }
  /** its metrics, every second and when asked for */
  | { readonly kind: 'report'; readonly report: MetricsReport }
  /** asks for the sums over all workers */
  | { readonly kind: 'totals_wanted'; readonly id: number }
  /** it has nothing more to do and is about to end */
  | { readonly kind: 'ending' }

/** What the supervisor tells a worker. */
export type ToWorker =
  | { readonly kind: 'report_wanted' }
  | { readonly kind: 'totals'; readonly id: number; readonly text: string }
  /** from now on it may say that it is ready */
  | { readonly kind: 'open' }
  | { readonly kind: 'drain' }

/** How often a worker reports by itself: what it counted since then is lost when it dies. */
export const REPORT_INTERVAL_MS = 1_000
