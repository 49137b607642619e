import { beatInBetween } from '@gateway/core/processes/heartbeat.js'

/**
 * Limit: time in ms of such work in one turn of the event loop. Hot tiles are answered between two turns, so this is roughly their delay.
 * One task may take longer: it ends the turn.
 */
const TURN_MS = 4

/**
 * Spreads work that may accumulate (many requests that waited for one token, documents of a large catalog) over turns of the event loop.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #spentMs = 0
  #isScheduled = false

  /** Runs a task that does not throw: immediately if this turn has time for it and no task waits, otherwise after the waiting ones. */
  run(task: () => void): void {
    if (this.#waiting.length === 0 && this.#spentMs < TURN_MS) this.#work(task)
    else this.#waiting.push(task)
    this.#schedule()
  }

  /** Like `run`, but never immediately: for a task that continues itself. */
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
    // Tasks that are added meanwhile wait for the next turn, or a task that continues itself would never end this one.
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
