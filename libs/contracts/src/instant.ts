import { z } from 'zod'
import { sentence } from './messages.js'

/** ISO 8601, to the second or finer, to the minute, or a bare date, which is its midnight; without a zone it is UTC. */
export const instantSchema = z.union(
  [
    z.iso.datetime({ offset: true, local: true }),
    z.iso.datetime({ offset: true, local: true, precision: -1 }),
    z.iso.date(),
  ],
  { error: sentence('said.instant') },
)

/**
 * Milliseconds since 1970 of what `instantSchema` takes, whatever zone this machine lives in; null: not within the years 0001 to 9999, which are those
 * that ISO 8601's four digits and the store can say. Offsets can push a moment out of them.
 */
export function instantMs(instant: string): number | null {
  const at = new Date(withZone(instant))
  const year = at.getUTCFullYear()
  return Number.isNaN(year) || year < 1 || year > 9999 ? null : at.getTime()
}

const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')

/** The moment that lies `ms` before another, or the first that `instantMs` knows where that is later. */
export function instantBefore(endMs: number, ms: number): number {
  return Math.max(endMs - ms, FIRST_MS)
}

/** A moment in the query of a request. */
export const queryInstantSchema = instantSchema.refine((instant) => instantMs(instant) !== null, {
  error: sentence('said.instant_years'),
})

/** JavaScript reads bare dates as UTC by itself. */
function withZone(instant: string): string {
  return instant.includes('T') && !/(Z|[+-]\d\d:?\d\d)$/.test(instant) ? `${instant}Z` : instant
}
