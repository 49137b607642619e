/** Limit: time in ms for a body of this kind, a JSON document of at most 1 MiB, which arrives by then at half the speed of a modem. */
const ARRIVES_WITHIN_MS = 30_000
/** Limits of one process, over all incomplete bodies. Beyond either, the oldest is dropped. */
const MAX_BODIES = 2_048
const MAX_BYTES = 64 * 1024 * 1024

/** Below the HTTP server's own 10 s, after which it closes the connection of a slow body without a response. */
const TICK_MS = 3_000

/** A body that is held here until it is complete. */
export interface WaitingBody {
  readonly bytes: number
  keepWaiting(): void
  /** Called when the body has taken too long, or was the oldest of too many. */
  giveWay(): void
}

/**
 * The bodies that one edge process holds while they arrive. An honest one is complete within moments and never the oldest, so slow ones,
 * however many, only displace each other.
 */
export class WaitingBodies {
  /** In the order of their age. */
  readonly #waiting = new Map<WaitingBody, { readonly deadline: number; bytes: number }>()
  readonly #limits: { readonly bodies: number; readonly bytes: number; readonly withinMs: number }
  #bytes = 0
  #timer: NodeJS.Timeout | null = null

  constructor(limits = { bodies: MAX_BODIES, bytes: MAX_BYTES, withinMs: ARRIVES_WITHIN_MS }) {
    this.#limits = limits
  }

  get size(): number {
    return this.#waiting.size
  }

  add(body: WaitingBody): void {
    this.#waiting.set(body, { deadline: performance.now() + this.#limits.withinMs, bytes: body.bytes })
    this.#bytes += body.bytes
    this.#timer ??= setInterval(() => this.#tick(), Math.min(TICK_MS, this.#limits.withinMs))
    this.#makeRoom()
  }

  /** Must be called for each byte that arrives while `body` waits; ignores other bodies. */
  grown(body: WaitingBody, bytes: number): void {
    const entry = this.#waiting.get(body)
    if (entry === undefined) return
    entry.bytes += bytes
    this.#bytes += bytes
    this.#makeRoom()
  }

  forget(body: WaitingBody): void {
    const entry = this.#waiting.get(body)
    if (entry === undefined) return
    this.#waiting.delete(body)
    this.#bytes -= entry.bytes
    if (this.#waiting.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #makeRoom(): void {
    while (this.#waiting.size > this.#limits.bodies || this.#bytes > this.#limits.bytes) {
      const [oldest] = this.#waiting.keys()
      if (oldest === undefined) return
      this.forget(oldest)
      oldest.giveWay()
    }
  }

  #tick(): void {
    const now = performance.now()
    for (const [body, { deadline }] of [...this.#waiting]) {
      if (now <= deadline) {
        body.keepWaiting()
        continue
      }
      this.forget(body)
      body.giveWay()
    }
  }
}
