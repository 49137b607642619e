/** A worker that lived this long did not die of its start. */
const SETTLED_MS = 5_000
const FREE_RESTARTS = 3
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000

/**
 * How long to wait before a worker is replaced, in milliseconds: not at all, unless workers of its place die again and again right after
 * their start. `early` counts those deaths in a row, this one included; `nextEarly` says what it is after this death.
 */
export function restartDelayMs(early: number): number {
  if (early <= FREE_RESTARTS) return 0
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (early - FREE_RESTARTS - 1))
}

export function nextEarly(early: number, livedMs: number): number {
  return livedMs >= SETTLED_MS ? 0 : early + 1
}
