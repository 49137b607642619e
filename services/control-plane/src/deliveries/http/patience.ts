/** How long a receiver is waited for. Both end the exchange by the same signal; the reason says which one it was. */
export interface Patience {
  /** without any sign of life, milliseconds */
  readonly idleMs: number
  /** altogether, milliseconds */
  readonly totalMs: number
}

/** From decisions.md: no answer in 10 s is a failure, however lively the receiver drips. */
export const MESSAGE_PATIENCE: Patience = { idleMs: 10_000, totalMs: 10_000 }

/** From decisions.md: no progress in 30 s is a failure. A receiver that takes a byte now and then must not hold a transfer for days. */
export const UPLOAD_PATIENCE: Patience = { idleMs: 30_000, totalMs: 6 * 3_600_000 }

/** Aborts its signal once patience has run out, or when the outer signal is aborted. */
export class PatienceTimer {
  readonly signal: AbortSignal
  readonly #idleTimer: NodeJS.Timeout
  readonly #totalTimer: NodeJS.Timeout
  #message: string | null = null

  constructor(patience: Patience, outer: AbortSignal) {
    const controller = new AbortController()
    this.signal = AbortSignal.any([controller.signal, outer])
    const giveUp = (message: string) => {
      this.#message = message
      controller.abort()
    }
    const seconds = (ms: number) => `${ms / 1000} s`
    this.#idleTimer = setTimeout(giveUp, patience.idleMs, `no progress in ${seconds(patience.idleMs)}`)
    const slow =
      patience.totalMs === patience.idleMs
        ? `no answer in ${seconds(patience.totalMs)}`
        : `not done in ${seconds(patience.totalMs)}`
    // Where both limits are one, it is this one that speaks.
    if (patience.totalMs === patience.idleMs) clearTimeout(this.#idleTimer)
    this.#totalTimer = setTimeout(giveUp, patience.totalMs, slow)
  }

  /** Which limit ended the exchange; null: none has. */
  get exceeded(): string | null {
    return this.#message
  }

  /** A sign of life. */
  touch(): void {
    if (!this.signal.aborted) this.#idleTimer.refresh()
  }

  stop(): void {
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#totalTimer)
  }
}
