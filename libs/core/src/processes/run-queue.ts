import { readFileSync } from 'node:fs'

/**
 * Milliseconds that the first thread of a process (in Node: its event loop) was ready to run and had no processor, since it began: the second
 * figure of Linux's /proc/PID/schedstat. A process that is stopped, sleeps or runs does not wait. 0 where the kernel does not say, or the process
 * has ended.
 */
export function runQueueWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6 || 0
  } catch {
    return 0
  }
}
