import { beatInBetween } from '@gateway/core/processes/heartbeat.js'

/**
 * Limit: milliseconds of such work in one turn of the event loop. Hot tiles are answered between two turns, so this is about what they wait
 * for it. One task may take longer: it ends the turn.
 */
const TURN_MS = 4

/** Work that may pile up (many requests that waited for one token, documents of a large catalog), spread over turns of the event loop. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #spentMs = 0
  #isScheduled = false

  /** Runs a task that does not throw: at once while this turn has time for it and nothing waits, and behind what waits otherwise. */
  run(task: () => void): void {
    if (this.#waiting.length === 0 && this.#spentMs < TURN_MS) this.#work(task)
    else this.#waiting.push(task)
    this.#schedule()
  }

  /** As `run`, and never at once: for a task that continues itself. */
  later(task: () => void): void {
    this.#waiting.push(task)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#spentMs = 0
    beatInBetween()
    // What is added meanwhile waits for the next turn, or a task that continues itself would keep this one.
    for (let left = this.#waiting.length; left > 0 && this.#spentMs < TURN_MS; left--) {
      this.#work(this.#waiting.shift() as () => void)
    }
    if (this.#waiting.length > 0) this.#schedule()
  }

  #work(task: () => void): void {
    const startedAt = performance.now()
    task()
    this.#spentMs += performance.now() - startedAt
  }
}
