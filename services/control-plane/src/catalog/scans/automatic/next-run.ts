import type { ScanSchedule } from '@gateway/contracts/scan-source.js'
import { Cron } from 'croner'

/**
 * When a schedule wants the next scan after `afterMs`, in milliseconds since 1970; null: never again. Throws for an expression or a time zone
 * that is not understood.
 */
export function nextRun(schedule: ScanSchedule, afterMs: number): number | null {
  if ('every_seconds' in schedule) return afterMs + schedule.every_seconds * 1000
  const cron = new Cron(schedule.cron, { timezone: schedule.time_zone ?? 'UTC', mode: '5-part' })
  return cron.nextRun(new Date(afterMs))?.getTime() ?? null
}

/** What becomes of a schedule at a look at it: whether a scan is due, and when the next one is. */
export interface Turn {
  readonly due: boolean
  readonly nextMs: number | null
}

/**
 * Missed scans are one that is due. A time that is later than the schedule can want means that the clock went back: it is corrected, and nothing
 * is due.
 * @param wantedMs what was stored at the last look; null: nothing
 */
export function turnOf(schedule: ScanSchedule, wantedMs: number | null, nowMs: number): Turn {
  const fromNow = nextRun(schedule, nowMs)
  if (wantedMs === null || (fromNow !== null && wantedMs > fromNow)) return { due: false, nextMs: fromNow }
  if (wantedMs > nowMs) return { due: false, nextMs: wantedMs }
  // From the time that was wanted, so that a late look moves no later one.
  const fromWanted = nextRun(schedule, wantedMs)
  return { due: true, nextMs: fromWanted !== null && fromWanted > nowMs ? fromWanted : fromNow }
}
