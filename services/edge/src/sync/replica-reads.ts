import type { LogState } from '@gateway/contracts/change.js'
import type { Log } from '@gateway/core/logging/log.js'
import { hasReached } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { QUERY_TIMEOUT_MS, type StoreLink } from './store-link.js'

/** The reads that a replica and the primary have answered. */
export interface ReplicaCounts {
  replicaReads: number
  /** answered by the primary, since the replica had not reached the revision that this process knows of */
  replicaBehind: number
  /** answered by the primary, since the replica did not answer, or not in time */
  replicaFailed: number
}

/** Limit: milliseconds for a replica to answer a short query; the primary still has its own time then. */
const REPLICA_WITHIN_MS = 1_000

/** Milliseconds for which a replica that failed is not asked: requests must not wait for it one after the other. */
const LEFT_ALONE_MS = 1_000

export interface ReplicaReadsOptions {
  readonly primary: StoreLink
  /** null: the primary answers everything */
  readonly replica: StoreLink | null
  /** the newest state of the log that this process has heard of; null: none yet, so that no replica is trusted */
  readonly known: () => LogState | null
  readonly counts: ReplicaCounts
  readonly log: Log
}

/**
 * Reads from a replica of the store, if it has reached every revision that this process knows of, and from the primary otherwise. A replica that
 * lags, that belongs to another history or that fails is never trusted. Each read asks the primary once at most.
 */
export class ReplicaReads {
  readonly #o: ReplicaReadsOptions
  #aloneUntil = Number.NEGATIVE_INFINITY
  #state: 'used' | 'behind' | 'failed' = 'used'

  constructor(options: ReplicaReadsOptions) {
    this.#o = options
  }

  /** @param timeoutMs of the primary; a replica has no more */
  async query<T>(run: (sql: Sql) => Promise<T>, timeoutMs: number = QUERY_TIMEOUT_MS): Promise<T> {
    const answer = await this.ask(run, timeoutMs > QUERY_TIMEOUT_MS ? timeoutMs : REPLICA_WITHIN_MS)
    return answer === null ? this.#o.primary.query(run, timeoutMs) : answer.value
  }

  /** The replica's answer; null: the primary has to be asked. */
  async ask<T>(run: (sql: Sql) => Promise<T>, timeoutMs = REPLICA_WITHIN_MS): Promise<{ readonly value: T } | null> {
    const { replica, counts } = this.#o
    const known = this.#o.known()
    if (replica === null || known === null) return null
    if (performance.now() < this.#aloneUntil) {
      counts.replicaFailed++
      return null
    }
    try {
      // One transaction is one server, also behind an address that spreads connections over several replicas.
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

  /** One line when the condition begins, and one when it ends. */
  #note(state: 'used' | 'behind' | 'failed', fields: Readonly<Record<string, unknown>>): void {
    if (state === this.#state) return
    this.#state = state
    const { log } = this.#o
    if (state === 'used') log.info(fields, 'the replica of the store is read again')
    else if (state === 'behind')
      log.warn(fields, 'the replica of the store lags behind a revision that is known here; the primary is read')
    else log.warn(fields, 'the replica of the store does not answer; the primary is read')
  }
}
