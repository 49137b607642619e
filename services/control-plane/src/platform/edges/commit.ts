import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedChange, LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import { within } from '@gateway/core/processes/within.js'
import type { Acknowledgement } from '@gateway/store/bus/bus.js'
import { commitWithChanges, currentState, type NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { causeDeliveries } from '@gateway/store/kept-trace.js'
import type { ControlContext } from '../context.js'
import { traceToKeep } from '../trace.js'
import type { KnownEdges } from './known-edges.js'

/** A change that returns its entries for the change log. */
type Work<T> = (tx: Transaction) => Promise<{ result: T; changes: readonly NewChange[] }>

/** Time limit of publishing. A committed change is reported as such, even if the bus hangs. */
const PUBLISH_WITHIN_MS = 1000

/**
 * Time limit of the wait for edges. An edge that the bus does not reach polls the change log every second, and a stopped edge drops out of presence
 * sooner than this. So the wait covers only edges that are slow because their machine is busy.
 */
const FOLLOW_WITHIN_MS = 4000
const POLL_MS = 1200

/** Additional time for reading presence. */
const PRESENCE_WITHIN_MS = 500

const BUS_LATE = 'the bus did not answer in time'

export interface Confirmed<T> {
  readonly result: T
  readonly confirmed: EdgePresence[]
  readonly pending: EdgePresence[]
}

/**
 * Commits a change, publishes it, and waits until every live edge process has applied it, for at most TOKEN_STALE_SECONDS. If the change was
 * already made before, it waits for the edges too, since they may not have followed yet. It does not wait if the result is null or a
 * refusal.
 */
export async function commitAndConfirm<T>(
  ctx: ControlContext,
  edges: KnownEdges,
  work: Work<T>,
): Promise<Confirmed<T>> {
  const { result, revision } = await commitAndPublish(ctx, work)
  if (result === null || isRefusal(result)) return { result, confirmed: [], pending: [] }
  return { result, ...(await confirmState(ctx, edges, revision)) }
}

function isRefusal(result: unknown): result is Refusal {
  return typeof result === 'object' && (result as Partial<Refusal>).ok === false
}

/**
 * Like `commitAndConfirm`, for a change of one row that causes no deliveries. Concurrent changes of other rows share its transaction.
 * @param key the row; callers that change several rows in one transaction take them in this order
 */
export async function commitTogether<T>(
  ctx: ControlContext,
  edges: KnownEdges,
  key: string,
  work: Work<T>,
): Promise<Confirmed<T>> {
  const { result, changes } = await ctx.together.commit(key, work)
  if (isRefusal(result)) return { result, confirmed: [], pending: [] }
  return {
    result,
    ...(await confirmState(ctx, edges, changes.at(-1) ?? null)),
  }
}

/** Waits for the edges like `commitAndConfirm`, after a separate commit and publication. `state` null: nothing was changed. */
export async function confirmState(
  ctx: ControlContext,
  edges: KnownEdges,
  state: LogState | null,
): Promise<Pick<Confirmed<unknown>, 'confirmed' | 'pending'>> {
  const { confirmed, pending } = await confirmation(ctx, edges, state ?? (await currentState(ctx.sql)))
  return {
    confirmed: confirmed.map((edge) => ({ path: 'bus' as const, ...edge })),
    pending: [...pending],
  }
}

/**
 * Commits a change and publishes it. Returns the result, and the log state that edges must reach (null if nothing that they cache has
 * changed).
 */
export async function commitAndPublish<T>(
  ctx: Pick<ControlContext, 'sql' | 'bus' | 'log'>,
  work: Work<T>,
): Promise<{ result: T; revision: LogState | null }> {
  const { result, changes } = await commitWithChanges(ctx.sql, async (tx) => {
    await causeDeliveries(tx, traceToKeep())
    return work(tx)
  })
  return { result, revision: await publishChanges(ctx, changes) }
}

/**
 * Publishes committed changes. Returns the state that edges must reach, or null without changes. A bus that is out of reach undoes nothing,
 * since edges poll the log.
 */
export async function publishChanges(
  ctx: Pick<ControlContext, 'bus' | 'log'>,
  changes: readonly LoggedChange[],
): Promise<LogState | null> {
  const last = changes.at(-1)
  if (last === undefined) return null
  const { revision, mark, previousMark } = last
  await within(ctx.bus.publish({ revision, changes, mark, previousMark }), PUBLISH_WITHIN_MS, BUS_LATE).catch(
    (error: Error) => {
      ctx.log.warn({ err: error.message, revision }, 'the bus is out of reach; edges will find the change by polling')
    },
  )
  return { revision, mark }
}

/**
 * Waits until the edges serve a committed change, so that a client that calls one of them after the response finds it there. Without a bus it
 * waits for the time of a poll. The response is sent even if an edge does not follow in time.
 */
export async function edgesFollow(
  ctx: Pick<ControlContext, 'bus' | 'shutdown'>,
  revision: LogState | null,
): Promise<void> {
  if (revision === null) return
  const polled = () => sleep(POLL_MS, undefined, { signal: ctx.shutdown }).catch(() => {})
  await edgesApplied(ctx, revision, FOLLOW_WITHIN_MS).catch(polled)
}

/**
 * If the bus is out of reach, edges confirm through the store, which they poll. If both are out of reach, no edge can confirm, and each of the
 * last known ones may still accept what it has cached.
 */
async function confirmation(ctx: ControlContext, edges: KnownEdges, state: LogState): Promise<Acknowledgement> {
  const end = ctx.metrics.propagationSeconds.startTimer()
  const deadline = performance.now() + ctx.settings.tokenStaleSeconds * 1000
  try {
    return await edgesApplied(ctx, state, ctx.settings.tokenStaleSeconds * 1000)
  } catch (error) {
    const err = (error as Error).message
    ctx.log.warn({ err, revision: state.revision }, 'the bus is out of reach; edges confirm by way of the store')
    const leftMs = Math.max(0, deadline - performance.now())
    const unsure = () => ({ confirmed: [], pending: edges.unsure })
    const stored = await within(edges.awaitStored(state, leftMs), leftMs + PRESENCE_WITHIN_MS, BUS_LATE).catch(unsure)
    return { ...stored, confirmed: stored.confirmed.map((edge) => ({ ...edge, path: 'store' as const })) }
  } finally {
    end()
  }
}

/** `Bus.awaitApplied` that rejects in time even if the bus hangs. */
function edgesApplied(
  { bus }: Pick<ControlContext, 'bus'>,
  state: LogState,
  timeoutMs: number,
): Promise<Acknowledgement> {
  return within(bus.awaitApplied(state, timeoutMs), timeoutMs + PRESENCE_WITHIN_MS, BUS_LATE)
}
