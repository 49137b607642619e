/** What is watched: a body whose client does not take more at the moment. */
export interface Blockable {
  /** When the client last took something; milliseconds of `performance.now()`. */
  readonly progressAt: number
  /** Offers the client more. */
  poke(): void
  stall(): void
}

/**
 * uWebSockets.js closes a connection about 10 seconds after a write that did not succeed, however steadily its client reads: a
 * writable event comes only when a third of the kernel's buffer is free again, which can be megabytes. Each new attempt to write
 * sets that timer anew and shows whether there was progress. So every blocked body tries again this often.
 */
const POKE_MILLISECONDS = 4_000

/** Cuts clients for lack of progress, not for being slow. */
export class StallWatch {
  readonly #blocked = new Set<Blockable>()
  readonly #stallMilliseconds: number
  #timer: NodeJS.Timeout | undefined

  constructor(stallSeconds: number) {
    this.#stallMilliseconds = stallSeconds * 1000
  }

  add(body: Blockable): void {
    this.#blocked.add(body)
    this.#timer ??= setInterval(() => this.#round(), POKE_MILLISECONDS).unref()
  }

  remove(body: Blockable): void {
    this.#blocked.delete(body)
    if (this.#blocked.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #round(): void {
    const now = performance.now()
    for (const body of [...this.#blocked]) {
      if (now - body.progressAt >= this.#stallMilliseconds) body.stall()
      else body.poke()
    }
  }
}
