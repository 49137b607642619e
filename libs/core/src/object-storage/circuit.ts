import type { CircuitState } from './object-store.js'

/** Number of successive failures that open a circuit. */
export const OPENING_FAILURES = 5
const FIRST_OPEN_MS = 2_000

export interface CircuitTimes {
  /** time for which it opens first */
  readonly firstOpenMs: number
  readonly longestOpenMs: number
}

const STORAGE_TIMES: CircuitTimes = { firstOpenMs: FIRST_OPEN_MS, longestOpenMs: 60_000 }

/**
 * A circuit breaker. It opens after successive failures, and while it is open no request waits for a timeout. When its time has passed, one
 * request is let through: its success closes the circuit, and its failure opens it for twice as long.
 */
export class Circuit {
  readonly #now: () => number
  readonly #random: () => number
  readonly #times: CircuitTimes
  #failures = 0
  #openMs = 0
  #openUntil = 0
  #isTrying = false

  /** @param now milliseconds of a monotonic clock @param random from 0 to 1 */
  constructor(now: () => number = () => performance.now(), random: () => number = Math.random, times = STORAGE_TIMES) {
    this.#now = now
    this.#random = random
    this.#times = times
  }

  get state(): CircuitState {
    if (this.#openMs === 0) return 'closed'
    return this.#now() < this.#openUntil ? 'open' : 'half open'
  }

  /** successive failures */
  get failures(): number {
    return this.#failures
  }

  /** Returns null if the caller may proceed; it then calls `succeeded`, `failed` or `abandoned`. Otherwise returns the milliseconds to wait. */
  admit(): number | null {
    if (this.#openMs === 0) return null
    const left = this.#openUntil - this.#now()
    if (left > 0) return left
    if (this.#isTrying) return FIRST_OPEN_MS
    this.#isTrying = true
    return null
  }

  succeeded(): void {
    this.#failures = 0
    this.#openMs = 0
    this.#isTrying = false
  }

  failed(): void {
    this.#failures += 1
    // Requests that began before the circuit opened end while it is open. Their failures are not new information.
    if (this.state === 'open') return
    if (!this.#isTrying && (this.#failures < OPENING_FAILURES || this.#openMs > 0)) return
    this.#isTrying = false
    const { firstOpenMs, longestOpenMs } = this.#times
    this.#openMs = Math.min(longestOpenMs, this.#openMs === 0 ? firstOpenMs : this.#openMs * 2)
    // Jitter, so that the processes of a cluster do not return at the same time.
    this.#openUntil = this.#now() + this.#openMs * (0.75 + this.#random() / 2)
  }

  /** The caller has given up, which says nothing about the server. */
  abandoned(): void {
    this.#isTrying = false
  }
}
