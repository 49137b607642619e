/** Time in ms without changes of a path after which its change is picked up. */
export const SETTLE_MS = 2_000
/** Minimum interval in ms between two scans of a folder. */
const LEAST_INTERVAL_MS = 10_000
/** Limit: changed paths of one scan; after changes of more, everything is scanned. */
export const MAX_CHANGED = 256
/**
 * Limit: notifications in a second; beyond it, everything is scanned. The kernel drops notifications if 16,384 are unread, and Node does not report
 * that.
 */
export const MAX_NOTIFICATIONS = 8_000
const COUNTED_MS = 1_000

/** Everything of a source is to be scanned, or these paths below it. */
export type Due = 'everything' | readonly string[]

/**
 * Decides when the changes of a folder are to be scanned, and which ones. Each path settles by itself, so that a file that grows for minutes does not
 * delay another one. Times are of one monotonic clock, in milliseconds.
 */
export class Settling {
  readonly #changedAt = new Map<string, number>()
  #notifications = { since: Number.NEGATIVE_INFINITY, count: 0 }
  #wantsEverything = false
  #scannedAt = Number.NEGATIVE_INFINITY

  /** Makes everything due, because earlier changes are unknown: at once, unless something is changing. */
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

  /** Returns the changes that are due now, or null. A scan of everything waits until nothing changes; settled paths are scanned meanwhile. */
  due(now: number): Due | null {
    if (now < this.#scannedAt + LEAST_INTERVAL_MS) return null
    const isSettled = (at: number) => now >= at + SETTLE_MS
    const changing = [...this.#changedAt].filter(([, at]) => !isSettled(at)).map(([path]) => path)
    if (this.#wantsEverything && changing.length === 0) return 'everything'
    const isInUse = (path: string) => changing.some((one) => `${one}/`.startsWith(`${path}/`))
    const settled = [...this.#changedAt.keys()].filter((path) => path !== '' && !isInUse(path))
    return settled.length === 0 ? null : settled
  }

  /** The changed paths for which no scan has been requested. */
  get changed(): readonly string[] {
    return [...this.#changedAt.keys()].filter((path) => path !== '')
  }

  /** Called when a scan of these changes has been requested. */
  taken(due: Due, now: number): void {
    if (due === 'everything') this.#changedAt.clear()
    else for (const path of due) this.#changedAt.delete(path)
    if (due === 'everything') this.#wantsEverything = false
    this.#scannedAt = now
  }
}
