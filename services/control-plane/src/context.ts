import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus, RevisionMessage } from '@gateway/bus/bus.js'
import type { Change } from '@gateway/contracts/change.js'
import type { Log } from '@gateway/logging/log.js'
import type { Settings } from '@gateway/settings/load.js'
import type { NewChange } from '@gateway/store/change-log.js'
import { commitWithChanges } from '@gateway/store/commit.js'
import type { Sql, Transaction } from '@gateway/store/connect.js'
import type { FirstScans } from './first-scans.js'
import type { Metrics } from './metrics.js'

/** What every feature of the control plane works with. Built once by main, handed down; no feature reaches for a global. */
export interface ControlContext {
  readonly settings: Settings
  readonly sql: Sql
  readonly bus: Bus
  readonly log: Log
  readonly metrics: Metrics
  /** milliseconds since 1970 */
  readonly now: () => number
  readonly version: string
  readonly firstScans: FirstScans
  /** aborted when the process shuts down: loops and long work end then */
  readonly shutdown: AbortSignal
}

/**
 * Commits a change and tells the edges. A bus that cannot be reached does not undo what is committed: edges poll the log.
 * Answers the result and the revision that edges must reach (null: nothing that they hold has changed).
 */
export async function commitAndPublish<T>(
  ctx: Pick<ControlContext, 'sql' | 'bus' | 'log'>,
  work: (tx: Transaction) => Promise<{ result: T; changes: readonly NewChange[] }>,
): Promise<{ result: T; revision: number | null }> {
  const { result, changes } = await commitWithChanges(ctx.sql, work)
  return { result, revision: await publishChanges(ctx, changes) }
}

/** Tells the edges of changes that are committed; answers the revision that they must reach, null where there is no change. */
export async function publishChanges(
  ctx: Pick<ControlContext, 'bus' | 'log'>,
  changes: readonly Change[],
): Promise<number | null> {
  const last = changes.at(-1)
  if (last === undefined) return null
  const message: RevisionMessage = { revision: last.revision, changes }
  await ctx.bus.publish(message).catch((error: Error) => {
    ctx.log.warn(
      { err: error.message, revision: last.revision },
      'the bus is out of reach; edges will find the change by polling',
    )
  })
  return last.revision
}

/** An edge that the bus does not reach polls the change log every second; one that takes longer is in trouble that its own log tells of. */
const EDGES_FOLLOW_MS = 2000
const EDGES_POLL_MS = 1200

/**
 * Waits until the edges serve what was committed, so that whoever asks one of them after the answer finds what the answer says. Without a
 * bus they are given the time of a poll; where an edge does not follow in time, the answer goes out all the same.
 */
export async function edgesFollow(
  { bus, shutdown }: Pick<ControlContext, 'bus' | 'shutdown'>,
  revision: number | null,
): Promise<void> {
  if (revision === null) return
  const polled = () => sleep(EDGES_POLL_MS, undefined, { signal: shutdown }).catch(() => {})
  await bus.awaitApplied(revision, EDGES_FOLLOW_MS).catch(polled)
}
