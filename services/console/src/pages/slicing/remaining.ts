import type { ListedSliceJob } from '@gateway/contracts/slice.js'

/** Below it nothing can be told: the images are still being read. */
const FROM_PERCENT = 3
const MINUTE = 60

/**
 * Seconds that a running job still takes if it goes on as fast as it has so far, rounded as coarsely as that is known; null: nothing can be told.
 * @param now milliseconds since 1970
 */
export function secondsLeft(
  { status, progress, started_at: started }: Pick<ListedSliceJob, 'status' | 'progress' | 'started_at'>,
  now: number,
): number | null {
  if (status !== 'running' || started === null || progress < FROM_PERCENT || progress >= 100) return null
  const seconds = (((now - Date.parse(started)) / 1000) * (100 - progress)) / progress
  // The clocks of the browser and the store differ.
  if (seconds <= 0) return null
  const step = seconds < 2 * MINUTE ? 10 : seconds < 60 * MINUTE ? MINUTE : 10 * MINUTE
  return Math.ceil(seconds / step) * step
}
