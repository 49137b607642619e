import { readFileSync } from 'node:fs'

/**
 * Returns the total milliseconds that the first thread of a process (in Node: its event loop) was ready to run and had no processor: the second
 * figure of Linux's /proc/PID/schedstat. A process that is stopped, sleeps or runs does not wait. Returns 0 if the kernel does not report it, or
 * the process has ended.
 */
export function runQueueWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6 || 0
  } catch {
    return 0
  }
}
