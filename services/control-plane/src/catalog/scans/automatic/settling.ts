/** Time after the last change at which a scan is due. */
export const SETTLE_MS = 2_000
/** Minimum time between two scans. */
export const LEAST_INTERVAL_MS = 10_000

/** Decides when a changing folder is scanned. Times are milliseconds of one monotonic clock. */
export class Settling {
  #changedAt: number | null = null
  #scannedAt = Number.NEGATIVE_INFINITY

  noteChange(now: number): void {
    this.#changedAt = now
  }

  /** null: nothing has changed since the last scan was requested */
  get dueAt(): number | null {
    return this.#changedAt === null ? null : Math.max(this.#changedAt + SETTLE_MS, this.#scannedAt + LEAST_INTERVAL_MS)
  }

  /** Returns true if a scan is due, and resets the state. */
  take(now: number): boolean {
    const { dueAt } = this
    if (dueAt === null || now < dueAt) return false
    this.#changedAt = null
    this.#scannedAt = now
    return true
  }
}
