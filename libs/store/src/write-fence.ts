import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sql, Transaction } from './sql.js'
import { saysAborted } from './transient-errors.js'

/**
 * The outcome of a request's writes. `none`: nothing was carried out, nor will be. `committed`: at least one write was. `unknown`: the store
 * did not confirm a commit.
 */
export type WriteOutcome = 'none' | 'committed' | 'unknown'

/** Thrown for a write that was not committed by its deadline, and never will be. */
export class WriteTooLate extends Error {
  override readonly name = 'WriteTooLate'
  readonly code = 'ANSWER_TIMEOUT'

  constructor() {
    super('the store did not carry out a write in time')
  }
}

interface Attempt {
  state: 'working' | 'committing' | 'over'
  giveUp: () => void
}

/**
 * Watches the transactions of one request, so that its response can state their outcome. A single message, which is sent last, commits a
 * transaction. If it was not sent by the deadline, it is never sent, whatever the store returns later, and the connection rolls back. Only a
 * commit that was sent and not confirmed leaves the outcome open.
 */
export class WriteWatch {
  readonly #withinMs: number
  readonly #attempts = new Set<Attempt>()
  #givenUp = false
  #outcome: WriteOutcome = 'none'

  /** @param withinMs maximum time of a transaction */
  constructor(withinMs: number) {
    this.#withinMs = withinMs
  }

  get outcome(): WriteOutcome {
    const committing = [...this.#attempts].some(({ state }) => state === 'committing')
    return committing ? 'unknown' : this.#outcome
  }

  /** Prevents all later commits of this request, because its response was sent. */
  giveUp(): void {
    this.#givenUp = true
    for (const attempt of this.#attempts) attempt.giveUp()
  }

  /**
   * @param begin runs a transaction and commits it when its work has resolved
   * @param limited false: only the time limits of the statements apply to the transaction
   */
  async run<T>(begin: Begin, work: (tx: Transaction) => Promise<T>, limited: boolean): Promise<T> {
    if (this.#givenUp) throw new WriteTooLate()
    const attempt: Attempt = { state: 'working', giveUp: () => {} }
    const late = new Promise<never>((_, reject) => {
      attempt.giveUp = () => {
        if (attempt.state === 'working') attempt.state = 'over'
        reject(new WriteTooLate())
      }
    })
    late.catch(() => {})
    this.#attempts.add(attempt)
    const timer = limited ? setTimeout(attempt.giveUp, this.#withinMs) : null
    try {
      const result = await Promise.race([this.#committed(begin, work, attempt), late])
      this.#end(attempt, 'committed')
      return result
    } catch (error) {
      const open = attempt.state === 'committing' && !saysAborted(error)
      this.#end(attempt, open ? 'unknown' : 'none')
      throw error
    } finally {
      if (timer !== null) clearTimeout(timer)
    }
  }

  #committed<T>(begin: Begin, work: (tx: Transaction) => Promise<T>, attempt: Attempt): Promise<T> {
    const done = begin(async (tx) => {
      const result = await work(tx)
      // No timer can fire from here until COMMIT is sent, because nothing in between waits.
      if (attempt.state !== 'working') throw new WriteTooLate()
      attempt.state = 'committing'
      return result
    })
    done.catch(() => {})
    return done as Promise<T>
  }

  #end(attempt: Attempt, outcome: WriteOutcome): void {
    this.#attempts.delete(attempt)
    attempt.state = 'over'
    if (outcome === 'unknown' || this.#outcome === 'none') this.#outcome = outcome
  }
}

type Begin = (work: (tx: Transaction) => Promise<unknown>) => Promise<unknown>

/** The watch of the request that the running code belongs to. Code outside of requests has none. */
export const writeWatch = new AsyncLocalStorage<WriteWatch>()

/** Makes every transaction of a client watchable. @param limited see `WriteWatch.run` */
export function fenced(sql: Sql, limited: boolean): Sql {
  const begin = sql.begin.bind(sql) as unknown as Begin
  const watched: Begin = (work) => {
    const watch = writeWatch.getStore()
    return watch === undefined ? begin(work) : watch.run(begin, work, limited)
  }
  return Object.assign(sql, { begin: watched }) as Sql
}
