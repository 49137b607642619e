/** Time limits of one HTTP exchange, in milliseconds. */
export interface Deadlines {
  /** maximum time without progress */
  readonly idleMs: number
  /** maximum total time */
  readonly totalMs: number
}

/** decisions.md: no response within 10 s is a failure, however slowly the receiver sends it. */
export const MESSAGE_DEADLINES: Deadlines = { idleMs: 10_000, totalMs: 10_000 }

/** decisions.md: no progress within 30 s is a failure. A receiver that takes an occasional byte must not hold a transfer for days. */
export const UPLOAD_DEADLINES: Deadlines = { idleMs: 30_000, totalMs: 6 * 3_600_000 }

/** An exceeded deadline, in the form of messages. */
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

  /** the deadline that ended the exchange; null: none */
  get exceeded(): Exceeded | null {
    return this.#exceeded
  }

  /** Records progress. */
  touch(): void {
    if (!this.signal.aborted) this.#idle?.refresh()
  }

  stop(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    clearTimeout(this.#total)
  }
}
