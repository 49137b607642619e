import { appendFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { childrenOf, statFields } from './processes.js'

/** Times of /proc are in hundredths of a second, on every architecture of Linux. */
const TICKS_PER_SECOND = 100

/** Position after the name of its program in /proc/PID/stat: `utime`, followed by `stime`, `cutime` and `cstime`. */
const FIRST_TIME = 11

interface Counted {
  /** processor time until the end of the last file in this process; seconds */
  countedUntil?: number
}

/**
 * Appends the processor time of each test file, with that of all processes that it starts, to the file that `npm test -- --profile` names.
 * Files share their process, whose earlier files are left out. The first file has the start of the process too.
 */
const report = process.env.TEST_PROCESSOR_TIMES
if (report !== undefined) {
  afterAll(() => {
    const counted = globalThis as Counted
    const now = processorSeconds(process.pid)
    const seconds = now - (counted.countedUntil ?? 0)
    counted.countedUntil = now
    appendFileSync(report, `${JSON.stringify({ name: expect.getState().testPath, seconds })}\n`)
  })
}

/** Returns the processor time of a process, of its ended children and of all that run. One that has ended meanwhile has none. */
function processorSeconds(pid: number): number {
  const own = statFields(pid)
    .slice(FIRST_TIME, FIRST_TIME + 4)
    .reduce((sum, ticks) => sum + Number(ticks), 0)
  return childrenOf(pid).reduce((sum, child) => sum + processorSeconds(child), own / TICKS_PER_SECOND)
}
