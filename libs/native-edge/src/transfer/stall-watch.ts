/**
 * What the kernel has taken and the reader has not cannot be seen here, and free room is reported only once a third of it was taken. A reader of
 * this rate is slow, not stalled, so each byte in flight extends the limit by what it takes to read at this rate.
 */
const SLOWEST_READER_BYTES_PER_MS = 1
const LONGEST_LIMIT_MS = 10 * 60_000

/**
 * uWebSockets.js closes a connection about 10 seconds after a write that did not succeed, however steadily its client reads. Each new attempt to
 * write sets that timer again and shows whether there was progress. The server's timers tick every 4 s.
 */
const TICK_MS = 3_000

export interface Stallable {
  keepWaiting(): void
  stalled(): void
}

/** Watches over transfers whose socket is full, and ends clients for lack of progress, not for being slow: one timer for all of them. */
export class StallWatch {
  readonly #limitMs: number
  readonly #deadlines = new Map<Stallable, number>()
  #timer: NodeJS.Timeout | null = null

  /** @param limitMs a reader that takes nothing for this long counts as gone */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /**
   * @param inFlight bytes that the kernel took since it was last full
   * @param progressAt when the client last took something, by `performance.now()`
   */
  add(transfer: Stallable, inFlight = 0, progressAt = performance.now()): void {
    const allowance = Math.min(LONGEST_LIMIT_MS, inFlight / SLOWEST_READER_BYTES_PER_MS)
    this.#deadlines.set(transfer, progressAt + this.#limitMs + allowance)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
  }

  forget(transfer: Stallable): void {
    this.#deadlines.delete(transfer)
    if (this.#deadlines.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  #tick(): void {
    const now = performance.now()
    for (const [transfer, deadline] of [...this.#deadlines]) {
      if (now >= deadline) transfer.stalled()
      else transfer.keepWaiting()
    }
  }
}
