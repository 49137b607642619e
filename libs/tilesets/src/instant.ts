const FORM = /^(\d{4})(-\d{2})?(-\d{2})?(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
/** Maximum characters of a time; an interval has two times. */
const MAX_LENGTH = 80

/**
 * Parses a time in ISO 8601, or in the forms of WMTS clients: a year, month or day means its beginning, and an interval
 * `from/to` its beginning. Without an offset it is in UTC. `current`, `default` and '' mean now. Returns milliseconds since 1970, or null for other text.
 */
export function parseInstant(text: string, nowMs: number): number | null {
  if (text === '' || text === 'current' || text === 'default') return nowMs
  if (text.length > MAX_LENGTH) return null
  // A plus that was not encoded has become a space.
  const first = (text.split('/', 1)[0] as string).replace(/ (?=\d{2}:\d{2}$)/, '+')
  const [, , , day, time, , , zone] = FORM.exec(first) ?? []
  if (!FORM.test(first) || (time !== undefined && day === undefined)) return null
  const ms = Date.parse(time !== undefined && zone === undefined ? `${first}Z` : first)
  if (Number.isNaN(ms) || day === undefined) return Number.isNaN(ms) ? null : ms
  // Date.parse takes the 30th of February for the 2nd of March.
  const date = first.slice(0, 'yyyy-mm-dd'.length)
  return new Date(date).toISOString().startsWith(date) ? ms : null
}
