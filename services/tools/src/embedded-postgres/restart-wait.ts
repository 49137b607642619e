/** After a crash its orphaned backends keep the shared memory for a moment; 50 attempts are about five seconds. */
const ATTEMPTS = 50
const WAIT_MS = 100

/** An operator has to make room on a full disk, which takes time; edges go on with their caches meanwhile. */
const DISK_FULL_WAIT_MS = 2_000

/** How long to wait before Postgres, which ended for this reason, is started for the nth time (from 0); null: it does not come back. */
export function waitBeforeRestart(attempt: number, reason: string): number | null {
  if (isDiskFull(reason)) return DISK_FULL_WAIT_MS
  return attempt < ATTEMPTS ? WAIT_MS : null
}

export function isDiskFull(words: string): boolean {
  // The second: a page of which only a part found room.
  return words.includes('No space left on device') || words.includes(': wrote only ')
}
