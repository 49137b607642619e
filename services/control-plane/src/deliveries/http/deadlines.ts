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

/** A deadline that has passed, as messages name it. */
export interface Exceeded {
  readonly deadline: 'no_progress' | 'no_answer' | 'not_done'
  readonly seconds: number
}

/** Aborts its signal when a deadline is exceeded, or with the outer signal. */
export class DeadlineTimer {
  readonly signal: AbortSignal
  readonly #idle: NodeJS.Timeout | null
  readonly #total: NodeJS.Timeout
  #exceeded: Exceeded | null = null

  constructor({ idleMs, totalMs }: Deadlines, outer: AbortSignal) {
    const controller = new AbortController()
    this.signal = AbortSignal.any([controller.signal, outer])
    const expire = (deadline: Exceeded['deadline'], ms: number) => {
      this.#exceeded = { deadline, seconds: ms / 1000 }
      controller.abort()
    }
    const isOne = idleMs === totalMs
    this.#idle = isOne ? null : setTimeout(expire, idleMs, 'no_progress', idleMs)
    this.#total = setTimeout(expire, totalMs, isOne ? 'no_answer' : 'not_done', totalMs)
  }

  /** Which deadline ended the exchange; null: none has. */
  get exceeded(): Exceeded | null {
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
