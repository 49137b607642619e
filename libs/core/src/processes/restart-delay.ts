/** When a process that ended is started again; milliseconds. */
export interface RestartPolicy {
  /** a process that ran for so long was sound: its end counts for nothing */
  readonly soundAfterMs: number
  /** so many failures in a row cost no wait */
  readonly freeRestarts: number
  readonly firstDelayMs: number
  readonly longestDelayMs: number
}

/** How many times in a row a process has failed, given how long the run took that ended now. */
export function failuresInARow(before: number, ranMs: number, { soundAfterMs }: RestartPolicy): number {
  return ranMs >= soundAfterMs ? 0 : before + 1
}

/** How long to wait before the next start: it doubles with each failure in a row. */
export function restartDelayMs(failures: number, policy: RestartPolicy): number {
  const { freeRestarts, firstDelayMs, longestDelayMs } = policy
  if (freeRestarts > 0 && failures <= freeRestarts) return 0
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, failures - freeRestarts - 1))
}
