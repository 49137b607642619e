import type { Log } from '@gateway/core/logging/log.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { Tracer } from '@gateway/core/tracing/span.js'
import type { Bus } from '@gateway/store/bus/bus.js'
import type { Sql } from '@gateway/store/connect.js'
import type { GroupCommit } from '@gateway/store/group-commit.js'
import type { Metrics } from './metrics.js'
import type { Readiness } from './readiness.js'

/** The shared dependencies of all features. `main` builds it once and passes it down; there are no globals. */
export interface ControlContext {
  readonly settings: Settings
  readonly sql: Sql
  readonly bus: Bus
  /** commits changes of several callers in one transaction, and publishes them */
  readonly together: GroupCommit
  readonly log: Log
  readonly metrics: Metrics
  readonly tracer: Tracer
  /** milliseconds since 1970 */
  readonly now: () => number
  readonly version: string
  readonly readiness: Readiness
  /** aborts when a shutdown is announced: the process reports that it is not ready, and keeps serving */
  readonly notice: AbortSignal
  /** aborts when the process shuts down: loops and long work then end */
  readonly shutdown: AbortSignal
}
