import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Nice values (of 19) of work that yields to tiles when processors are short. */
export const NICE = {
  /** answers that somebody waits for, and which cost more than a tile */
  requests: 5,
  /** builds, conversions, scans and imports */
  background: 10,
} as const

/**
 * Lets other processes come first on the processors.
 *
 * Linux may give each session the same share of the processors (`sched_autogroup_enabled`). A nice value then counts only within its session, so a process that
 * leads a session lowers the priority of the session too. Children inherit both.
 */
export function lowerPriority(nice: number, pid: number = process.pid): void {
  try {
    setPriority(pid, nice)
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(session) === pid) writeFileSync(`/proc/${pid}/autogroup`, String(nice))
  } catch {
    // The process has ended, or the kernel has no such groups, or it allows this only once in 100 ms: the work goes on, with the priority that it has.
  }
}
