import type { CircuitState } from './object-store.js'

/** So many failures without a success between them open the circuit. */
const OPENING_FAILURES = 5
const FIRST_OPEN_MS = 2_000
const LONGEST_OPEN_MS = 60_000

/**
 * Whether a place is asked at all. It opens after failures in a row, and while it is open nobody waits for time-outs. When its time is over one
 * request goes through: its success closes the circuit, its failure opens it for twice as long.
 */
export class Circuit {
  readonly #now: () => number
  readonly #random: () => number
  #failures = 0
  #openMs = 0
  #openUntil = 0
  #isTrying = false

  /** @param now milliseconds on a clock that nobody sets @param random from 0 to 1 */
  constructor(now: () => number = () => performance.now(), random: () => number = Math.random) {
    this.#now = now
    this.#random = random
  }

  get state(): CircuitState {
    if (this.#openMs === 0) return 'closed'
    return this.#now() < this.#openUntil ? 'open' : 'half open'
  }

  /** null: go on, and tell how it went by `succeeded`, `failed` or `abandoned`; a number: milliseconds to wait for. */
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
    // Requests that began before it opened end while it is open: they say nothing new.
    if (this.state === 'open') return
    if (!this.#isTrying && (this.#failures < OPENING_FAILURES || this.#openMs > 0)) return
    this.#isTrying = false
    this.#openMs = Math.min(LONGEST_OPEN_MS, this.#openMs === 0 ? FIRST_OPEN_MS : this.#openMs * 2)
    // So that the processes of a cluster do not come back all at once.
    this.#openUntil = this.#now() + this.#openMs * (0.75 + this.#random() / 2)
  }

  /** The caller has given up: nothing is known of the place. */
  abandoned(): void {
    this.#isTrying = false
  }
}
