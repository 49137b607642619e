import type { Change } from '@gateway/contracts/change.js'
import { logChanges, type NewChange } from './change-log.js'
import type { Sql, Transaction } from './connect.js'

export interface Committed<T> {
  readonly result: T
  /** what the change log received; empty where nothing that edges hold has changed */
  readonly changes: readonly Change[]
}

/**
 * Runs one administrative change: the work, and the change-log rows that it asks for, in one transaction. The caller publishes
 * `changes` on the bus after this has resolved; a process that dies in between costs edges only their next poll.
 */
export async function commitWithChanges<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<{ result: T; changes: readonly NewChange[] }>,
): Promise<Committed<T>> {
  const committed = await sql.begin(async (tx) => {
    const { result, changes } = await work(tx)
    return { result, changes: await logChanges(tx, changes) }
  })
  return committed as Committed<T>
}
