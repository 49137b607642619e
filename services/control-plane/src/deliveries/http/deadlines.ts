/** How long an exchange may take, in milliseconds. */
export interface Deadlines {
  /** without progress */
  readonly idleMs: number
  /** altogether */
  readonly totalMs: number
}

/** From decisions.md: no answer in 10 s is a failure, however slowly the receiver sends one. */
export const MESSAGE_DEADLINES: Deadlines = { idleMs: 10_000, totalMs: 10_000 }

/** From decisions.md: no progress in 30 s is a failure. A receiver that takes a byte now and then must not hold a transfer for days. */
export const UPLOAD_DEADLINES: Deadlines = { idleMs: 30_000, totalMs: 6 * 3_600_000 }

/** Aborts its signal when a deadline is exceeded, or with the outer signal. */
export class DeadlineTimer {
  readonly signal: AbortSignal
  readonly #idle: NodeJS.Timeout | null
  readonly #total: NodeJS.Timeout
  #exceeded: string | null = null

  constructor({ idleMs, totalMs }: Deadlines, outer: AbortSignal) {
    const controller = new AbortController()
    this.signal = AbortSignal.any([controller.signal, outer])
    const expire = (message: string) => {
      this.#exceeded = message
      controller.abort()
    }
    const isOne = idleMs === totalMs
    this.#idle = isOne ? null : setTimeout(expire, idleMs, `no progress in ${idleMs / 1000} s`)
    this.#total = setTimeout(expire, totalMs, `${isOne ? 'no answer' : 'not done'} in ${totalMs / 1000} s`)
  }

  /** Which deadline ended the exchange; null: none has. */
  get exceeded(): string | null {
    return this.#exceeded
  }

  /** There is progress. */
  touch(): void {
    if (!this.signal.aborted) this.#idle?.refresh()
  }

  stop(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    clearTimeout(this.#total)
  }
}
