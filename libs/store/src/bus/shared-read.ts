import { setTimeout as sleep } from 'node:timers/promises'

/** Minimum time between the starts of two reads, however many callers there are. */
const APART_MS = 20
/** Minimum pause as a multiple of the last read's duration, so that reads of many edges leave the process time for other work. */
const APART_READS = 4
/** Time after which a read that hangs no longer delays the next one. */
const PATIENCE_MS = 250

/** Shares one read among all concurrent callers. A result is never older than its call: a read that began earlier does not count. */
export class SharedRead<T> {
  readonly #run: () => Promise<T>
  #next: Promise<T> | null = null
  #running: Promise<unknown> = Promise.resolve()
  #begunAt = Number.NEGATIVE_INFINITY
  #lastedMs = 0

  constructor(run: () => Promise<T>) {
    this.#run = run
  }

  /** Rejects if the read rejects. */
  read(): Promise<T> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<T> {
    await Promise.race([this.#running, sleep(PATIENCE_MS, undefined, { ref: false })])
    const apart = Math.min(PATIENCE_MS, Math.max(APART_MS, APART_READS * this.#lastedMs))
    const early = this.#begunAt + apart - performance.now()
    if (early > 0) await sleep(early)
    // Later callers may know of changes that this read does not see.
    this.#next = null
    this.#begunAt = performance.now()
    const begunAt = this.#begunAt
    const answer = this.#run()
    this.#running = answer
      .catch(() => {})
      .then(() => {
        this.#lastedMs = performance.now() - begunAt
      })
    return answer
  }
}
