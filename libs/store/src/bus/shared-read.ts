import { setTimeout as sleep } from 'node:timers/promises'

/** Limit: two reads begin at least so far apart, however many ask. */
const APART_MS = 20
/** And so many times as long as the last one took, so that reads of many edges leave a process time for the rest. */
const APART_READS = 4
/** A read that hangs does not keep the next one from beginning for longer than this. */
const PATIENCE_MS = 250

/** One read for all who ask at the same time. An answer is never older than the question: a read that began before does not count. */
export class SharedRead<T> {
  readonly #run: () => Promise<T>
  #next: Promise<T> | null = null
  #running: Promise<unknown> = Promise.resolve()
  #begunAt = Number.NEGATIVE_INFINITY
  #lastedMs = 0

  constructor(run: () => Promise<T>) {
    this.#run = run
  }

  /** Rejects as the read does. */
  read(): Promise<T> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<T> {
    await Promise.race([this.#running, sleep(PATIENCE_MS, undefined, { ref: false })])
    const apart = Math.min(PATIENCE_MS, Math.max(APART_MS, APART_READS * this.#lastedMs))
    const early = this.#begunAt + apart - performance.now()
    if (early > 0) await sleep(early)
    // Who asks from here on may know of something that this read does not see.
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
