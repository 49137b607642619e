/** A change is picked up so long after the last one. */
export const SETTLE_MS = 2_000
/** And at most so often. */
export const LEAST_INTERVAL_MS = 10_000

/** When a folder that changes is to be scanned. Times are of one monotonic clock, in milliseconds. */
export class Settling {
  #changedAt: number | null = null
  #scannedAt = Number.NEGATIVE_INFINITY

  noteChange(now: number): void {
    this.#changedAt = now
  }

  /** null: nothing has changed since the last scan was asked for. */
  get dueAt(): number | null {
    return this.#changedAt === null ? null : Math.max(this.#changedAt + SETTLE_MS, this.#scannedAt + LEAST_INTERVAL_MS)
  }

  /** true: a scan is due, and is asked for by that. */
  take(now: number): boolean {
    const { dueAt } = this
    if (dueAt === null || now < dueAt) return false
    this.#changedAt = null
    this.#scannedAt = now
    return true
  }
}
