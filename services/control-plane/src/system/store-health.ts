import { setTimeout as sleep } from 'node:timers/promises'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { Sql } from '@gateway/store/connect.js'
import { probeWrite } from '@gateway/store/pooling.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'

/** Time limit. Probes give up after a second or two, so a slower store counts as down. */
const ANSWER_WITHIN_MS = 1500

/** Interval of test writes while writing is known to fail. */
const TRY_WRITING_EVERY_MS = 3000

const UNREACHABLE = coded('store_unreachable')

/**
 * Tells whether the store works, for reads and writes. A failure to write is known from a failed request, or because the store is a replica or
 * read-only (hosted stores become read-only before their disk is full). A test write shows the recovery.
 */
export class StoreHealth {
  readonly #sql: Sql
  readonly #shutdown: AbortSignal
  #cannotWrite: CodedMessage | null = null

  constructor(sql: Sql, shutdown: AbortSignal) {
    this.#sql = sql
    this.#shutdown = shutdown
  }

  /** Records the error of a failed request. */
  note(error: unknown): void {
    const trouble = storeTrouble(error)
    if (trouble?.writesOnly !== true) return
    const trying = this.#cannotWrite !== null
    this.#cannotWrite = trouble.said
    if (!trying) void this.#tryWriting()
  }

  /** Returns the current problem, or null, within ANSWER_WITHIN_MS. */
  async trouble(): Promise<CodedMessage | null> {
    const gaveUp = new AbortController()
    const late = sleep(ANSWER_WITHIN_MS, UNREACHABLE, { signal: gaveUp.signal }).catch(() => UNREACHABLE)
    const wrong = await Promise.race([this.#ask(), late])
    gaveUp.abort()
    return wrong
  }

  async #ask(): Promise<CodedMessage | null> {
    try {
      const [row] = await this.#sql<{ replica: boolean; readOnly: boolean }[]>`
        SELECT pg_is_in_recovery() AS replica, current_setting('transaction_read_only')::boolean AS "readOnly"`
      if (row?.replica) return coded('store_replica')
      if (row?.readOnly) return coded('store_made_read_only')
      return this.#cannotWrite
    } catch (error) {
      return storeTrouble(error)?.said ?? UNREACHABLE
    }
  }

  async #tryWriting(): Promise<void> {
    while (this.#cannotWrite !== null && !this.#shutdown.aborted) {
      await sleep(TRY_WRITING_EVERY_MS, undefined, { signal: this.#shutdown, ref: false }).catch(() => {})
      await probeWrite(this.#sql).then(
        () => {
          this.#cannotWrite = null
        },
        // Other failures are reported elsewhere.
        () => {},
      )
    }
  }
}
