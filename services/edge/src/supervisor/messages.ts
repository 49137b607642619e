import type { Beat } from '@gateway/core/processes/heartbeat.js'
import type { MetricsReport } from '../metrics/durations.js'
import type { StartCatalog } from '../offline/start-catalog.js'
import type { ReadAnswer, ReadWanted } from '../sync/host-reads.js'
import type { UsageBatch } from '../usage/usage-counts.js'

/** What a worker tells its supervisor. */
export type FromWorker =
  | Beat
  /** it can serve, or has waited long enough */
  | { readonly kind: 'listening' }
  /** it has read its catalog, and announces itself on the bus by this id */
  | { readonly kind: 'loaded'; readonly presenceId: string }
  /** it stops, and its presence is gone from the bus */
  | { readonly kind: 'withdrawn' }
  /** asks for something out of the store */
  | { readonly kind: 'read_wanted'; readonly wanted: ReadWanted }
  /** it starts while the store is away, and asks for what was kept */
  | { readonly kind: 'kept_wanted' }
  /** it has forgotten a token, by the hex SHA-256 of its plaintext, or all of them (null) */
  | { readonly kind: 'token_forgotten'; readonly digest: string | null }
  /** its metrics, every second and when asked for */
  | { readonly kind: 'report'; readonly report: MetricsReport }
  /** what it was used for since it last told */
  | { readonly kind: 'usage'; readonly batch: UsageBatch }
  /** asks for the sums over all workers */
  | { readonly kind: 'totals_wanted'; readonly id: number }
  /** it has nothing more to do and is about to end */
  | { readonly kind: 'ending' }

/** What the supervisor tells a worker. */
export type ToWorker =
  | { readonly kind: 'report_wanted' }
  | { readonly kind: 'read'; readonly answer: ReadAnswer }
  /** what was kept for a start without the store; null: nothing that may be used */
  | { readonly kind: 'kept'; readonly kept: StartCatalog | null }
  /** these processes have ended without a word */
  | { readonly kind: 'withdraw'; readonly presenceIds: readonly string[] }
  | { readonly kind: 'totals'; readonly id: number; readonly text: string }
  /** its usage has come */
  | { readonly kind: 'usage_taken' }
  /** from now on it may say that it is ready */
  | { readonly kind: 'open' }
  /** it is going to be drained: from now on it says that it is not ready */
  | { readonly kind: 'notice' }
  | { readonly kind: 'drain' }

/** How often a worker reports by itself: what it counted since then is lost when it dies. */
export const REPORT_INTERVAL_MS = 1_000

/** How often a worker tells what it was used for. Not as often: there may be ten thousands of tokens. */
export const USAGE_INTERVAL_MS = 5_000
