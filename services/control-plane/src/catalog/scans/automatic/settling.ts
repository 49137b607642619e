/** A change is picked up so long after the last one of the same path. */
export const SETTLE_MS = 2_000
/** And a folder is scanned at most so often. */
export const LEAST_INTERVAL_MS = 10_000
/** Limit: paths that one scan looks at; after changes of more, everything is scanned. */
export const MAX_CHANGED = 256
/** Limit: notifications of a second. The kernel drops them beyond 16,384 that were not read, and Node does not say so: everything is scanned then. */
export const MAX_NOTIFICATIONS = 8_000
const COUNTED_MS = 1_000
/** Everything is scanned after so long, though changes go on. */
export const LONGEST_WAIT_MS = 60_000

/** Everything of a source is to be scanned, or these paths below it. */
export type Due = 'everything' | readonly string[]

/**
 * When the changes of a folder are to be scanned, and which. Each path settles by itself, so that a file that grows for minutes does not delay
 * another one. Times are of one monotonic clock, in milliseconds.
 */
export class Settling {
  readonly #changedAt = new Map<string, number>()
  #notifications = { since: Number.NEGATIVE_INFINITY, count: 0 }
  #everythingSince: number | null = null
  #scannedAt = Number.NEGATIVE_INFINITY

  /** `path` null: anything may have changed. */
  noteChange(path: string | null, now: number): void {
    if (now >= this.#notifications.since + COUNTED_MS) this.#notifications = { since: now, count: 0 }
    this.#notifications.count++
    this.#changedAt.set(path ?? '', now)
    const isTooMuch = this.#changedAt.size > MAX_CHANGED || this.#notifications.count > MAX_NOTIFICATIONS
    if (path === null || isTooMuch) this.#everythingSince ??= now
  }

  /** What is due now, which is asked for by that; null: nothing is. */
  take(now: number): Due | null {
    if (now < this.#scannedAt + LEAST_INTERVAL_MS) return null
    const isSettled = (at: number) => now >= at + SETTLE_MS
    const changing = [...this.#changedAt].filter(([, at]) => !isSettled(at)).map(([path]) => path)
    const settled = [...this.#changedAt.keys()].filter(
      (path) => !changing.some((one) => `${one}/`.startsWith(`${path}/`)),
    )
    if (this.#everythingSince !== null) {
      const isQuiet = settled.length === this.#changedAt.size
      return isQuiet || now >= this.#everythingSince + LONGEST_WAIT_MS ? this.#taken('everything', now) : null
    }
    return settled.length === 0 ? null : this.#taken(settled, now)
  }

  #taken(due: Due, now: number): Due {
    if (due === 'everything') this.#changedAt.clear()
    else for (const path of due) this.#changedAt.delete(path)
    this.#everythingSince = null
    this.#scannedAt = now
    return due
  }
}
