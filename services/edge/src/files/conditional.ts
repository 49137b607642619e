/** Validators of the stored bytes in a response. */
export interface Validators {
  /** Strong entity tag, quotes included. */
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly modifiedMs: number
}

/** Limits in characters; a longer value matches nothing. A cache with a hundred versions needs fewer to name them. */
const MAX_TAGS = 4_096
const MAX_DATE = 128

/**
 * True if the client's copy is current (RFC 9110, 13.2.2): If-None-Match decides if it is present, by weak comparison; otherwise If-Modified-Since,
 * in whole seconds. Absent headers are empty strings.
 */
export function isNotModified(ifNoneMatch: string, ifModifiedSince: string, current: Validators): boolean {
  if (ifNoneMatch !== '') return ifNoneMatch.length <= MAX_TAGS && matchesAny(ifNoneMatch, current.etag)
  if (ifModifiedSince === '' || ifModifiedSince.length > MAX_DATE) return false
  const since = parseHttpDate(ifModifiedSince)
  return !Number.isNaN(since) && wholeSeconds(current.modifiedMs) <= since
}

/**
 * True if a precondition fails (RFC 9110, 13.2.2): If-Match decides if it is present, by strong comparison; otherwise If-Unmodified-Since. Ignores an
 * invalid date, and any date if the content has no modification time.
 */
export function isPreconditionFailed(ifMatch: string, ifUnmodifiedSince: string, current: Validators): boolean {
  if (ifMatch !== '') return ifMatch.trim() !== '*' && !matchesStrongly(ifMatch, current.etag)
  if (ifUnmodifiedSince === '' || ifUnmodifiedSince.length > MAX_DATE || !Number.isFinite(current.modifiedMs))
    return false
  const since = parseHttpDate(ifUnmodifiedSince)
  return !Number.isNaN(since) && wholeSeconds(current.modifiedMs) > since
}

/** True if a range may be taken from the current bytes (RFC 9110, 13.1.5): the header has the same strong tag, or exactly the same date. */
export function isRangeStillGood(ifRange: string, current: Validators): boolean {
  if (ifRange === '') return true
  if (ifRange.length > MAX_DATE) return false
  if (ifRange.startsWith('"')) return ifRange === current.etag
  if (ifRange.startsWith('W/')) return false
  return parseHttpDate(ifRange) === wholeSeconds(current.modifiedMs)
}

function matchesAny(list: string, etag: string): boolean {
  if (list === etag) return true
  if (list.trim() === '*') return true
  // Entity tags may hold commas, so the list cannot be split at them.
  for (const match of list.matchAll(/(?:W\/)?("[^"]*")/g)) if (match[1] === etag) return true
  return false
}

function matchesStrongly(list: string, etag: string): boolean {
  for (const [match] of list.matchAll(/(?:W\/)?"[^"]*"/g)) if (match === etag) return !etag.startsWith('W/')
  return false
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

const FIXED_DATE = /^[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/i
const RFC_850_DATE = /^[a-z]{3,6}day, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d GMT$/i
const ASCTIME_DATE = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i

/**
 * Returns the milliseconds since 1970 of a date in one of the three forms of RFC 9110, 5.6.7, and NaN for any other text, with which a condition is
 * ignored. `Date.parse` would accept other texts ("copy of 2038").
 */
function parseHttpDate(text: string): number {
  if (FIXED_DATE.test(text) || RFC_850_DATE.test(text)) return Date.parse(text)
  // The text names no zone, and is in GMT.
  return ASCTIME_DATE.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
}

export function httpDate(ms: number): string {
  return new Date(ms).toUTCString()
}
