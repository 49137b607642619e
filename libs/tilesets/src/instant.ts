const FORM = /^(\d{4})(-\d{2})?(-\d{2})?(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
/** Limit: characters of a time, of which an interval has two. */
const MAX_LENGTH = 80

/**
 * Milliseconds since 1970 of a time as ISO 8601 writes it, or as clients of a WMTS do: a year, month or day means its beginning, an interval
 * `from/to` its beginning; without an offset it is in UTC. `current`, `default` and '' mean now. null: it is none of these.
 */
export function parseInstant(text: string, nowMs: number): number | null {
  if (text === '' || text === 'current' || text === 'default') return nowMs
  if (text.length > MAX_LENGTH) return null
  // A plus that was not encoded has become a space.
  const first = (text.split('/', 1)[0] as string).replace(/ (?=\d{2}:\d{2}$)/, '+')
  const [, , , day, time, , , zone] = FORM.exec(first) ?? []
  if (!FORM.test(first) || (time !== undefined && day === undefined)) return null
  const ms = Date.parse(time !== undefined && zone === undefined ? `${first}Z` : first)
  return Number.isNaN(ms) ? null : ms
}
