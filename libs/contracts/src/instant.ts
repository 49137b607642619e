import { z } from 'zod'
import { sentence } from './messages.js'

/** ISO 8601 to the second or finer, to the minute, or a bare date, which means its midnight. Without a zone it is in UTC. */
export const instantSchema = z.union(
  [
    z.iso.datetime({ offset: true, local: true }),
    z.iso.datetime({ offset: true, local: true, precision: -1 }),
    z.iso.date(),
  ],
  { error: sentence('said.instant') },
)

/**
 * Converts the values of `instantSchema` to milliseconds since 1970, independent of the machine's zone. Returns null outside of the years 0001 to 9999,
 * which four digits of ISO 8601 and the store can express. An offset can move a time out of them.
 */
export function instantMs(instant: string): number | null {
  const at = new Date(withZone(instant))
  const year = at.getUTCFullYear()
  return Number.isNaN(year) || year < 1 || year > 9999 ? null : at.getTime()
}

const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')

/** Returns the time `ms` before another, but not before the first one of `instantMs`. */
export function instantBefore(endMs: number, ms: number): number {
  return Math.max(endMs - ms, FIRST_MS)
}

/** A time in the query of a request. */
export const queryInstantSchema = instantSchema.refine((instant) => instantMs(instant) !== null, {
  error: sentence('said.instant_years'),
})

/** JavaScript itself reads bare dates as UTC. */
function withZone(instant: string): string {
  return instant.includes('T') && !/(Z|[+-]\d\d:?\d\d)$/.test(instant) ? `${instant}Z` : instant
}
