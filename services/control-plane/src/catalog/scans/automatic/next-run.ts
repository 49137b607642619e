import type { ScanSchedule } from '@gateway/contracts/scan-source.js'
import { Cron } from 'croner'

/**
 * Returns the time of the next scan after `afterMs` by a schedule, in milliseconds since 1970; null: never again. Throws for an invalid
 * expression or time zone.
 */
export function nextRun(schedule: ScanSchedule, afterMs: number): number | null {
  if ('every_seconds' in schedule) return afterMs + schedule.every_seconds * 1000
  const cron = new Cron(schedule.cron, { timezone: schedule.time_zone ?? 'UTC', mode: '5-part' })
  return cron.nextRun(new Date(afterMs))?.getTime() ?? null
}

/** The result of a look at a schedule: whether a scan is due, and the time of the next one. */
export interface Turn {
  readonly due: boolean
  readonly nextMs: number | null
}

/**
 * Decides whether a scan is due. Several missed scans are one that is due. A stored time later than the schedule allows means that the clock was
 * set back: it is corrected, and no scan is due.
 * @param wantedMs time stored at the last look, or null
 */
export function turnOf(schedule: ScanSchedule, wantedMs: number | null, nowMs: number): Turn {
  const fromNow = nextRun(schedule, nowMs)
  if (wantedMs === null || (fromNow !== null && wantedMs > fromNow)) return { due: false, nextMs: fromNow }
  if (wantedMs > nowMs) return { due: false, nextMs: wantedMs }
  // Computed from the wanted time, so that a late look does not shift later scans.
  const fromWanted = nextRun(schedule, wantedMs)
  return { due: true, nextMs: fromWanted !== null && fromWanted > nowMs ? fromWanted : fromNow }
}
