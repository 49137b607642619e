/** After a crash, orphaned backends keep the shared memory for a moment. 50 attempts take about five seconds. */
const ATTEMPTS = 50
const WAIT_MS = 100

/** An operator needs time to free space on a full disk. Edges continue with their caches meanwhile. */
const DISK_FULL_WAIT_MS = 2_000

/** Returns the delay before the nth restart (from 0) of a Postgres that ended for this reason; null: give up. */
export function waitBeforeRestart(attempt: number, reason: string): number | null {
  if (isDiskFull(reason)) return DISK_FULL_WAIT_MS
  return attempt < ATTEMPTS ? WAIT_MS : null
}

export function isDiskFull(words: string): boolean {
  // The second message means that only a part of a page found space.
  return words.includes('No space left on device') || words.includes(': wrote only ')
}
