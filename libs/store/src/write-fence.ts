import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sql, Transaction } from './sql.js'
import { saysAborted } from './transient-errors.js'

/**
 * What became of a request's writes: nothing was carried out, nor ever will be; something was; or the store was asked to commit and has
 * not said whether it did.
 */
export type WriteOutcome = 'none' | 'committed' | 'unknown'

/** A write that was not committed by its deadline, and that will not be. */
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
 * Watches over the transactions of one request, so that its answer can say what became of them. A transaction is committed by a single
 * message that is sent last: where it was not sent by the deadline it never is, whatever the store answers later, and the rest is rolled
 * back with the connection. Only a commit that was sent and not answered leaves the outcome open.
 */
export class WriteWatch {
  readonly #withinMs: number
  readonly #attempts = new Set<Attempt>()
  #givenUp = false
  #outcome: WriteOutcome = 'none'

  /** @param withinMs how long a transaction may take */
  constructor(withinMs: number) {
    this.#withinMs = withinMs
  }

  get outcome(): WriteOutcome {
    const committing = [...this.#attempts].some(({ state }) => state === 'committing')
    return committing ? 'unknown' : this.#outcome
  }

  /** From now on nothing of this request is committed: it has been answered. */
  giveUp(): void {
    this.#givenUp = true
    for (const attempt of this.#attempts) attempt.giveUp()
  }

  /**
   * @param begin runs a transaction and commits it when its work has resolved
   * @param limited false: the transaction may take as long as its statements do
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
      // From here to the sending of COMMIT no timer can fire: nothing between the two waits for anything.
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

/** The watch over the request that the running code belongs to. Code that answers no request has none. */
export const writeWatch = new AsyncLocalStorage<WriteWatch>()

/** Lets every transaction of a client be watched over. @param limited see `WriteWatch.run` */
export function fenced(sql: Sql, limited: boolean): Sql {
  const begin = sql.begin.bind(sql) as unknown as Begin
  const watched: Begin = (work) => {
    const watch = writeWatch.getStore()
    return watch === undefined ? begin(work) : watch.run(begin, work, limited)
  }
  return Object.assign(sql, { begin: watched }) as Sql
}
