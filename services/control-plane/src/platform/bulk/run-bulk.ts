import type { LogState } from '@gateway/contracts/change.js'
import type { ErrorCode, Refusal } from '@gateway/contracts/errors.js'
import type { MessageParams } from '@gateway/contracts/messages.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import type { ControlContext } from '../context.js'
import { commitAndPublish } from '../edges/commit.js'

/** The result of one item, with its entries for the change log. A refusal comes before anything of the item is written. */
export type ItemOutcome = { readonly ok: true; readonly changes?: readonly NewChange[] } | Refusal

/** Changes one item, with its audit entry, in the transaction of its batch. */
export type ItemChange = (tx: Transaction, id: string) => Promise<ItemOutcome>

export interface FailedItem {
  readonly id: string
  readonly code: ErrorCode
  readonly error: string
  /** codes and parameters of the messages in `error` */
  readonly details: { readonly code: string; readonly params: MessageParams }[]
}

interface BulkOutcome {
  readonly failed: FailedItem[]
  /** state that edges must reach; null if nothing that they cache has changed */
  readonly state: LogState | null
}

/**
 * Changes items in batches, each in one transaction whose change-log entries come last. Every batch is published after its commit, so edges follow
 * while the next one runs. A failure of the store ends the call, and earlier batches stay.
 *
 * @param ids in the same order for all calls, so that two calls never wait for each other's rows
 * @param batchSize number of items in one transaction
 */
export async function runBulk(
  ctx: ControlContext,
  ids: readonly string[],
  change: ItemChange,
  batchSize: number,
): Promise<BulkOutcome> {
  const failed: FailedItem[] = []
  let state: LogState | null = null
  for (let from = 0; from < ids.length; from += batchSize) {
    const batch = ids.slice(from, from + batchSize)
    const { result, revision } = await commitAndPublish(ctx, (tx) => changeBatch(tx, batch, change))
    failed.push(...result)
    state = revision ?? state
  }
  return { failed, state }
}

async function changeBatch(tx: Transaction, ids: readonly string[], change: ItemChange) {
  const result: FailedItem[] = []
  const changes: NewChange[] = []
  // Statements of all items share round trips on one connection, in their order. No statement may run after the transaction has ended, so even
  // after a failure all of them are awaited.
  const settled = await Promise.allSettled(ids.map((id) => change(tx, id)))
  for (const [i, item] of settled.entries()) {
    if (item.status === 'rejected') throw item.reason
    const outcome = item.value
    if (outcome.ok) changes.push(...(outcome.changes ?? []))
    else result.push(failedItem(ids[i] as string, outcome))
  }
  return { result, changes }
}

function failedItem(id: string, { code, message, details = [] }: Refusal): FailedItem {
  return { id, code, error: message, details: details.map(({ code, params }) => ({ code, params })) }
}
