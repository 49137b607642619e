/** A reader that takes nothing for this long counts as gone. */
const STALL_LIMIT_MS = 60_000
/**
 * What the kernel has taken and the reader has not cannot be seen here, and free room is reported only once a third of it was taken. A reader of
 * this rate is slow, not stalled, so each byte in flight extends the limit by what it takes to read at this rate.
 */
const SLOWEST_READER_BYTES_PER_MS = 1
const LONGEST_LIMIT_MS = 10 * 60_000

/** Below the HTTP server's own 10 s, whose timers tick every 4 s. */
const TICK_MS = 3_000

export interface Stallable {
  keepWaiting(): void
  stalled(): void
}

/** Watches over transfers whose socket is full: one timer for all of them, and none while there is none. */
export class StallWatch {
  readonly #deadlines = new Map<Stallable, number>()
  #timer: NodeJS.Timeout | null = null

  /** @param inFlight bytes that the kernel took since it was last full */
  add(transfer: Stallable, inFlight: number): void {
    const allowance = Math.min(LONGEST_LIMIT_MS, STALL_LIMIT_MS + inFlight / SLOWEST_READER_BYTES_PER_MS)
    this.#deadlines.set(transfer, performance.now() + allowance)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
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
      if (now > deadline) transfer.stalled()
      else transfer.keepWaiting()
    }
  }
}
