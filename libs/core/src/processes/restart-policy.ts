/** The times at which an ended process is started again, in milliseconds. */
export interface RestartPolicy {
  /** a process that ran for so long was healthy, so its end does not count as a failure */
  readonly soundAfterMs: number
  /** number of successive failures after which a restart still comes at once */
  readonly freeRestarts: number
  readonly firstDelayMs: number
  readonly longestDelayMs: number
}

/** Returns the number of successive failures, given the duration of the run that ended now. */
export function failuresInARow(before: number, ranMs: number, { soundAfterMs }: RestartPolicy): number {
  return ranMs >= soundAfterMs ? 0 : before + 1
}

/** Returns the delay before the next start. It doubles with each successive failure. */
export function restartDelayMs(failures: number, policy: RestartPolicy): number {
  const { freeRestarts, firstDelayMs, longestDelayMs } = policy
  if (freeRestarts > 0 && failures <= freeRestarts) return 0
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, failures - freeRestarts - 1))
}
