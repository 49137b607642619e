/** A change is picked up so long after the last one of the same path. */
export const SETTLE_MS = 2_000
/** And a folder is scanned at most so often. */
export const LEAST_INTERVAL_MS = 10_000
/** Limit: paths that one scan looks at; after changes of more, everything is scanned. */
export const MAX_CHANGED = 256
/** Limit: notifications of a second. The kernel drops them beyond 16,384 that were not read, and Node does not say so: everything is scanned then. */
export const MAX_NOTIFICATIONS = 8_000
const COUNTED_MS = 1_000

/** Everything of a source is to be scanned, or these paths below it. */
export type Due = 'everything' | readonly string[]

/**
 * When the changes of a folder are to be scanned, and which. Each path settles by itself, so that a file that grows for minutes does not delay
 * another one. Times are of one monotonic clock, in milliseconds.
 */
export class Settling {
  readonly #changedAt = new Map<string, number>()
  #notifications = { since: Number.NEGATIVE_INFINITY, count: 0 }
  #wantsEverything = false
  #scannedAt = Number.NEGATIVE_INFINITY

  /** Earlier changes are not known: everything is due, at once unless something changes. */
  begin(): void {
    this.#wantsEverything = true
  }

  /** `path` null: anything may have changed. */
  noteChange(path: string | null, now: number): void {
    if (now >= this.#notifications.since + COUNTED_MS) this.#notifications = { since: now, count: 0 }
    this.#notifications.count++
    const isOneTooMany = this.#changedAt.size >= MAX_CHANGED && path !== null && !this.#changedAt.has(path)
    if (path === null || isOneTooMany || this.#notifications.count > MAX_NOTIFICATIONS) this.#wantsEverything = true
    this.#changedAt.set(path === null || isOneTooMany ? '' : path, now)
  }

  /** The changes that are due now; null: none are. Everything waits until nothing changes, and what has settled before is scanned meanwhile. */
  due(now: number): Due | null {
    if (now < this.#scannedAt + LEAST_INTERVAL_MS) return null
    const isSettled = (at: number) => now >= at + SETTLE_MS
    const changing = [...this.#changedAt].filter(([, at]) => !isSettled(at)).map(([path]) => path)
    if (this.#wantsEverything && changing.length === 0) return 'everything'
    const isInUse = (path: string) => changing.some((one) => `${one}/`.startsWith(`${path}/`))
    const settled = [...this.#changedAt.keys()].filter((path) => path !== '' && !isInUse(path))
    return settled.length === 0 ? null : settled
  }

  /** The paths that have changed, and that no scan has been asked for. */
  get changed(): readonly string[] {
    return [...this.#changedAt.keys()].filter((path) => path !== '')
  }

  /** A scan of these has been asked for. */
  taken(due: Due, now: number): void {
    if (due === 'everything') this.#changedAt.clear()
    else for (const path of due) this.#changedAt.delete(path)
    if (due === 'everything') this.#wantsEverything = false
    this.#scannedAt = now
  }
}
