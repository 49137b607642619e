import { setTimeout as sleep } from 'node:timers/promises'

/** Limit: two reads begin at least so far apart, however many ask. */
const APART_MS = 20
/** A read that hangs does not keep the next one from beginning for longer than this. */
const PATIENCE_MS = 250

/** One read for all who ask at the same time. An answer is never older than the question: a read that began before does not count. */
export class SharedRead<T> {
  readonly #run: () => Promise<T>
  #next: Promise<T> | null = null
  #running: Promise<unknown> = Promise.resolve()
  #begunAt = Number.NEGATIVE_INFINITY

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
    const early = this.#begunAt + APART_MS - performance.now()
    if (early > 0) await sleep(early)
    // Who asks from here on may know of something that this read does not see.
    this.#next = null
    this.#begunAt = performance.now()
    const answer = this.#run()
    this.#running = answer.catch(() => {})
    return answer
  }
}
