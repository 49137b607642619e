import type { LogState } from '@gateway/contracts/change.js'
import type { Log } from '@gateway/core/logging/log.js'
import { hasReached } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { QUERY_TIMEOUT_MS, type StoreLink } from './store-link.js'

/** Numbers of reads that a replica and the primary have answered. */
export interface ReplicaCounts {
  replicaReads: number
  /** Answered by the primary, because the replica had not reached the revision that this process knows of. */
  replicaBehind: number
  /** Answered by the primary, because the replica did not answer, or not in time. */
  replicaFailed: number
}

/** Limit: time in ms for a replica to answer a short query; the primary still has its full time then. */
const REPLICA_WITHIN_MS = 1_000

/** Time in ms for which a failed replica is not asked, so that not every request waits for it. */
const LEFT_ALONE_MS = 1_000

export interface ReplicaReadsOptions {
  readonly primary: StoreLink
  /** null: the primary answers all reads. */
  readonly replica: StoreLink | null
  /** Newest state of the log that this process has heard of; null if it has heard of no state yet, so that no replica is trusted. */
  readonly known: () => LogState | null
  readonly counts: ReplicaCounts
  readonly log: Log
}

/**
 * Reads from a replica of the store if it has reached every revision that this process knows of, and otherwise from the primary. A replica that
 * lags, belongs to another history or fails is never trusted. Each read asks the primary at most once.
 */
export class ReplicaReads {
  readonly #o: ReplicaReadsOptions
  #aloneUntil = Number.NEGATIVE_INFINITY
  #state: 'used' | 'behind' | 'failed' = 'used'

  constructor(options: ReplicaReadsOptions) {
    this.#o = options
  }

  /** @param timeoutMs time-out of the primary; a replica has at most this */
  async query<T>(run: (sql: Sql) => Promise<T>, timeoutMs: number = QUERY_TIMEOUT_MS): Promise<T> {
    const answer = await this.ask(run, timeoutMs > QUERY_TIMEOUT_MS ? timeoutMs : REPLICA_WITHIN_MS)
    return answer === null ? this.#o.primary.query(run, timeoutMs) : answer.value
  }

  /** Returns the replica's result; null if the primary must be asked. */
  async ask<T>(run: (sql: Sql) => Promise<T>, timeoutMs = REPLICA_WITHIN_MS): Promise<{ readonly value: T } | null> {
    const { replica, counts } = this.#o
    const known = this.#o.known()
    if (replica === null || known === null) return null
    if (performance.now() < this.#aloneUntil) {
      counts.replicaFailed++
      return null
    }
    try {
      // One transaction uses one server, even behind an address that spreads connections over several replicas.
      const answer = await replica.query(
        (sql) =>
          sql.begin(async (tx) => ((await hasReached(tx, known)) ? { value: await run(tx as unknown as Sql) } : null)),
        timeoutMs,
      )
      if (answer === null) counts.replicaBehind++
      else counts.replicaReads++
      this.#note(answer === null ? 'behind' : 'used', { revision: known.revision })
      return answer as { readonly value: T } | null
    } catch (error) {
      counts.replicaFailed++
      this.#aloneUntil = performance.now() + LEFT_ALONE_MS
      this.#note('failed', { err: (error as Error).message })
      return null
    }
  }

  /** Logs one line when the condition begins, and one when it ends. */
  #note(state: 'used' | 'behind' | 'failed', fields: Readonly<Record<string, unknown>>): void {
    if (state === this.#state) return
    this.#state = state
    const { log } = this.#o
    if (state === 'used') log.info(fields, 'the replica of the store is read again')
    else if (state === 'behind')
      log.warn(fields, 'the replica of the store lags behind a revision that is known here; the primary is read')
    else log.warn(fields, 'the replica of the store does not respond; the primary is read')
  }
}
