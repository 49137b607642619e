import { AsyncResource } from 'node:async_hooks'
import type { LoggedChange } from '@gateway/contracts/change.js'
import { type Committed, logChanges, type NewChange } from './change-log.js'
import type { Sql, Transaction } from './connect.js'
import { WriteTooLate, writeWatch } from './write-fence.js'

/** A change of one row, with its entries for the change log. It may run again if its transaction was rolled back. */
export type GroupedWork<T> = (tx: Transaction) => Promise<{ result: T; changes: readonly NewChange[] }>

/** Maximum number of changes in one transaction. Their statements share round trips, and must not fill a connection's pipeline. */
const MAX_MEMBERS = 50
/** Maximum wait for a locked row. After it, each change gets its own transaction. */
const LOCK_TIMEOUT_MS = 500
/** Time after which a transaction no longer delays the next one, since its connection may be dead. */
const PATIENCE_MS = 1_000

interface Member {
  /** the changed row; no two changes of one row share a transaction, in which they would not wait for each other */
  readonly key: string
  readonly work: GroupedWork<unknown>
  /** called right before COMMIT is sent; rejects if the caller has given up */
  readonly finish: (tx: Transaction) => Promise<unknown>
  readonly resolve: (committed: Committed<unknown>) => void
  readonly reject: (error: unknown) => void
  givenUp: boolean
}

/**
 * Commits changes of several callers in one transaction, with one update of the revision counter. Changes that arrive while a transaction is under
 * way share the next one: the more arrive, the more share the wait for the disk. A single caller waits for nobody.
 *
 * Members take their rows in the order of their keys, as everyone who changes several rows of a table does. If the transaction fails before its
 * COMMIT, each member runs in its own transaction, so that it fails for its own reasons only.
 */
export class GroupCommit {
  readonly #sql: Sql
  readonly #onCommitted: (changes: readonly LoggedChange[]) => void
  readonly #waiting: Member[] = []
  #underWay = 0

  /** @param onCommitted called once for each transaction, before its callers get their answers */
  constructor(sql: Sql, onCommitted: (changes: readonly LoggedChange[]) => void) {
    this.#sql = sql
    this.#onCommitted = onCommitted
  }

  /** Answers all changes of the transaction: the last one has the state that edges must reach. Watched over as `Sql.begin` is. */
  commit<T>(key: string, work: GroupedWork<T>): Promise<Committed<T>> {
    let joined: Member | null = null
    const own = AsyncResource.bind(work)
    const join = (finish: Member['finish']): Promise<Committed<T>> =>
      new Promise((resolve, reject) => {
        const settle = resolve as Member['resolve']
        joined = {
          key,
          work: own,
          finish,
          resolve: settle,
          reject,
          givenUp: false,
        }
        this.#waiting.push(joined)
        this.#next()
      })
    const watch = writeWatch.getStore()
    if (watch === undefined) return join(async () => {})
    const watched = watch.run(join, async () => {}, true) as Promise<unknown>
    return (watched as Promise<Committed<T>>).catch((error) => {
      if (joined !== null) joined.givenUp = true
      throw error
    })
  }

  #next(): void {
    if (this.#underWay > 0 || this.#waiting.length === 0) return
    const members = this.#take()
    this.#underWay++
    let over = false
    const end = (): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      this.#underWay--
      this.#next()
    }
    const timer = setTimeout(end, PATIENCE_MS)
    // The transaction belongs to no single request.
    void writeWatch.exit(() => this.#run(members)).finally(end)
  }

  #take(): readonly Member[] {
    const taken = new Map<string, Member>()
    for (const member of [...this.#waiting]) {
      if (taken.has(member.key) || taken.size === MAX_MEMBERS) continue
      this.#waiting.splice(this.#waiting.indexOf(member), 1)
      if (!member.givenUp) taken.set(member.key, member)
    }
    return [...taken.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  async #run(members: readonly Member[]): Promise<void> {
    let asked = false
    try {
      const done = await this.#sql.begin(async (tx) => {
        const done = await inOneTransaction(tx, members)
        if (members.some(({ givenUp }) => givenUp)) throw new WriteTooLate()
        // From here to the sending of COMMIT no timer can fire, so that nobody gives up between the two.
        await Promise.all(members.map((member) => member.finish(tx)))
        asked = true
        return done
      })
      const { results, changes } = done as Awaited<ReturnType<typeof inOneTransaction>>
      if (changes.length > 0) this.#onCommitted(changes)
      for (const [i, member] of members.entries())
        member.resolve({
          result: results[i]?.result,
          changes: results[i]?.changes.length === 0 ? [] : changes,
        })
    } catch (error) {
      // Once COMMIT was sent, nobody knows whether it was carried out.
      if (asked || members.length === 1) for (const member of members) member.reject(error)
      else await Promise.all(members.filter(({ givenUp }) => !givenUp).map((member) => this.#run([member])))
    }
  }
}

async function inOneTransaction(tx: Transaction, members: readonly Member[]) {
  const limited = members.length === 1 ? null : tx.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
  // Nothing may run on after the end of the transaction, so that also after a failure all of them are waited for.
  const settled = await Promise.allSettled([limited, ...members.map(({ work }) => work(tx))])
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const results = settled.slice(1).map(
    (one) =>
      (
        one as PromiseFulfilledResult<{
          result: unknown
          changes: readonly NewChange[]
        }>
      ).value,
  )
  return {
    results,
    changes: await logChanges(
      tx,
      results.flatMap(({ changes }) => changes),
    ),
  }
}
