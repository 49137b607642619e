/**
 * Rate of a reader that is slow, not stalled. The bytes that the kernel has taken and the reader has not are invisible here, and free room is
 * reported only after a third of it was read. So each byte in flight extends the limit by its reading time at this rate.
 */
const SLOWEST_READER_BYTES_PER_MS = 1
const LONGEST_LIMIT_MS = 10 * 60_000

/**
 * uWebSockets.js closes a connection about 10 seconds after an unsuccessful write, even if its client reads steadily. Each new attempt to write
 * resets that timer and shows whether there was progress. The server's timers tick every 4 s.
 */
const TICK_MS = 3_000

export interface Stallable {
  keepWaiting(): void
  stalled(): void
}

/** Watches transfers whose socket is full, and ends clients that make no progress, but not slow ones. One timer serves all transfers. */
export class StallWatch {
  readonly #limitMs: number
  readonly #deadlines = new Map<Stallable, number>()
  #timer: NodeJS.Timeout | null = null

  /** @param limitMs time without progress after which a reader is considered gone */
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
