import type { DrawAnswer, DrawTask } from '@gateway/contracts/drawing.js'
import type { Beat } from '@gateway/core/processes/heartbeat.js'
import type { MetricsReport } from '../metrics/durations.js'
import type { StartCatalog } from '../offline/start-catalog.js'
import type { ReadAnswer, ReadWanted } from '../sync/host-reads.js'
import type { UsageBatch } from '../usage/usage-counts.js'

/** `busy`: too many pictures wait. */
export type Drawn = DrawAnswer | 'busy'

/** Messages of a worker to its supervisor. */
export type FromWorker =
  | Beat
  /** The worker can serve, or has waited long enough. */
  | { readonly kind: 'listening' }
  /** The worker has read its catalog, and announces itself on the bus with this id. */
  | { readonly kind: 'loaded'; readonly presenceId: string }
  /** The worker stops, and has withdrawn its presence from the bus. */
  | { readonly kind: 'withdrawn' }
  /** Requests data from the store. */
  | { readonly kind: 'read_wanted'; readonly wanted: ReadWanted }
  /** The worker starts while the store is unreachable, and requests the kept state. */
  | { readonly kind: 'kept_wanted' }
  /** The worker has forgotten a token, by the hex SHA-256 of its plaintext, or all of them (null). */
  | { readonly kind: 'token_forgotten'; readonly digest: string | null }
  /** Its metrics, on request and every second, or less often while it has no requests. */
  | { readonly kind: 'report'; readonly report: MetricsReport }
  /** Its usage since the last such message. */
  | { readonly kind: 'usage'; readonly batch: UsageBatch }
  /** Requests the sums over all workers. */
  | { readonly kind: 'totals_wanted'; readonly id: number }
  /** Requests a picture of a style, which the renderer of this host draws. `caller`: id of the token that wants it. */
  | { readonly kind: 'picture_wanted'; readonly id: number; readonly caller: string; readonly task: DrawTask }
  /** The worker has finished and is about to end. */
  | { readonly kind: 'ending' }

/** Messages of the supervisor to a worker. */
export type ToWorker =
  | { readonly kind: 'report_wanted' }
  | { readonly kind: 'read'; readonly answer: ReadAnswer }
  /** The state that was kept for a start without the store; null if none may be used. */
  | { readonly kind: 'kept'; readonly kept: StartCatalog | null }
  /** These processes have ended without withdrawing their presence. */
  | { readonly kind: 'withdraw'; readonly presenceIds: readonly string[] }
  | { readonly kind: 'totals'; readonly id: number; readonly text: string }
  | { readonly kind: 'picture'; readonly id: number; readonly drawn: Drawn }
  /** Confirms its usage. */
  | { readonly kind: 'usage_taken' }
  /** Allows the worker to report that it is ready. */
  | { readonly kind: 'open' }
  /** The worker is about to be drained, and must report that it is not ready. */
  | { readonly kind: 'notice' }
  | { readonly kind: 'drain' }

/** Interval in ms at which a worker reports without a request: later counts are lost when it dies. */
export const REPORT_INTERVAL_MS = 1_000

/** Interval in ms at which a worker sends its usage. Longer, because there may be tens of thousands of tokens. */
export const USAGE_INTERVAL_MS = 5_000
