/** Limit: a body of this kind is a JSON document of 1 MiB at most; at half the pace of a modem it is there by then. Milliseconds. */
const ARRIVES_WITHIN_MS = 30_000
/** Limits of one process, over all bodies that have not arrived whole. Beyond either, the one that has taken longest gives way. */
const MAX_BODIES = 2_048
const MAX_BYTES = 64 * 1024 * 1024

/** Below the HTTP server's own 10 s, after which it hangs up on a slow body without a word. */
const TICK_MS = 3_000

/** A body that is held here until it is whole. */
export interface WaitingBody {
  readonly bytes: number
  keepWaiting(): void
  /** It has taken too long, or longest while there were too many. */
  giveWay(): void
}

/**
 * The bodies that one edge process holds while they arrive. An honest one is whole within moments and never the oldest, so slow ones, however
 * many, stand in each other's way alone.
 */
export class WaitingBodies {
  /** by age */
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

  /** To be told of each byte that comes while `body` waits; of others it takes no notice. */
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
