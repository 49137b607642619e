/** Ends a piece of work, so that the next one may begin. Further calls do nothing. */
export type Release = () => void

interface Waiting {
  readonly caller: string
  readonly begin: (release: Release) => void
}

/**
 * Lanes for work that runs at most so many at once, for callers that share them. Callers take turns, whatever their number of pieces, and while
 * others may come, no caller has more than half of the lanes or of the places in the queue.
 */
export class FairLanes {
  /** Returns the most pieces of work of one caller that run at the same time. */
  static shareOf(lanes: number): number {
    return Math.ceil(lanes / 2)
  }

  readonly #lanes: number
  readonly #places: number
  readonly #running: string[] = []
  readonly #waiting: Waiting[] = []

  /** @param places pieces of work that may wait; 0: none waits */
  constructor(lanes: number, places: number) {
    this.#lanes = lanes
    this.#places = places
  }

  /** Resolves when the caller's work may begin. Returns null if it cannot wait. The caller must call `Release`, whatever the outcome of the work. */
  enter(caller: string): Promise<Release> | null {
    if (this.#mayRun(caller)) return Promise.resolve(this.#run(caller))
    const own = this.#waiting.filter((one) => one.caller === caller).length
    if (this.#waiting.length >= this.#places || own >= FairLanes.shareOf(this.#places)) return null
    return new Promise((begin) => {
      this.#waiting.splice(fairPlace(this.#waiting, caller), 0, { caller, begin })
    })
  }

  #mayRun(caller: string): boolean {
    const own = this.#running.filter((one) => one === caller).length
    return this.#running.length < this.#lanes && own < FairLanes.shareOf(this.#lanes)
  }

  #run(caller: string): Release {
    this.#running.push(caller)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#running.splice(this.#running.indexOf(caller), 1)
      this.#next()
    }
  }

  #next(): void {
    for (;;) {
      const at = this.#waiting.findIndex(({ caller }) => this.#mayRun(caller))
      if (at === -1) return
      const [first] = this.#waiting.splice(at, 1) as [Waiting]
      first.begin(this.#run(first.caller))
    }
  }
}

/**
 * Returns the place of a caller's next piece of work in a queue: behind as many pieces of each other caller as the caller itself has in it, and behind
 * those that cannot move.
 * @param canMove false for work that has begun
 */
export function fairPlace<Work extends { readonly caller: string }>(
  queue: readonly Work[],
  caller: string,
  canMove: (work: Work) => boolean = () => true,
): number {
  const own = queue.filter((one) => one.caller === caller).length
  const seen = new Map<string, number>()
  for (const [i, one] of queue.entries()) {
    const before = seen.get(one.caller) ?? 0
    seen.set(one.caller, before + 1)
    if (before > own && canMove(one)) return i
  }
  return queue.length
}
