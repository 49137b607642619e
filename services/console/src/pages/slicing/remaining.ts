import type { ListedSliceJob } from '@gateway/contracts/slice.js'

/** Minimum progress for an estimate: below it the tool still reads the images. */
const FROM_PERCENT = 3
const MINUTE = 60

/**
 * Estimates the seconds that a running job still takes, by its speed so far, rounded to the precision of the estimate. Returns null if no
 * estimate is possible.
 * @param now milliseconds since 1970
 */
export function secondsLeft(
  { status, progress, started_at: started }: Pick<ListedSliceJob, 'status' | 'progress' | 'started_at'>,
  now: number,
): number | null {
  if (status !== 'running' || started === null || progress < FROM_PERCENT || progress >= 100) return null
  const seconds = (((now - Date.parse(started)) / 1000) * (100 - progress)) / progress
  // The clocks of the browser and the store may differ.
  if (seconds <= 0) return null
  const step = seconds < 2 * MINUTE ? 10 : seconds < 60 * MINUTE ? MINUTE : 10 * MINUTE
  return Math.ceil(seconds / step) * step
}
