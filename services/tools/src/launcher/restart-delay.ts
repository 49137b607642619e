/** The first restart comes at once for whoever waits, yet not in a spin. */
const FIRST_DELAY_MS = 100
/** A child that keeps failing costs one start in ten seconds: neither a busy machine nor a long wait once the cause has gone. */
const LONGEST_DELAY_MS = 10_000
/** A child that ran this long was sound: its next failure counts as the first. */
const SOUND_AFTER_MS = 30_000

/** How many failures in a row a child has had, given how long the run took that ended now. */
export function failuresInARow(before: number, ranMs: number): number {
  return ranMs >= SOUND_AFTER_MS ? 1 : before + 1
}

/** Milliseconds to wait before the next start: doubling with each failure in a row, capped. */
export function restartDelayMs(failures: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1))
}
