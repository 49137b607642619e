/** Result of a Range header: the whole file, one part (both ends included), or a part that the file does not have. */
export type ByteRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE: ByteRange = { kind: 'whole' }
const UNSATISFIABLE: ByteRange = { kind: 'unsatisfiable' }

/** Limit: characters of one range of the largest possible file, with spaces. A longer header has several ranges, or is invalid. */
const MAX_LENGTH = 128
const DIGITS = /^\d*$/

/**
 * Parses a Range header (RFC 9110, 14.2) for a file of `size` bytes. Another unit, a malformed or overlong header and several ranges
 * mean the whole file, as the standard allows.
 */
export function parseByteRange(header: string, size: number): ByteRange {
  if (header.length > MAX_LENGTH) return WHOLE
  const equals = header.indexOf('=')
  const dash = header.indexOf('-')
  if (equals < 0 || dash < equals || header.slice(0, equals).trimEnd().toLowerCase() !== 'bytes') return WHOLE
  const from = header.slice(equals + 1, dash).trim()
  const to = header.slice(dash + 1).trim()
  if (!DIGITS.test(from) || !DIGITS.test(to) || (from === '' && to === '')) return WHOLE
  if (from === '') {
    const count = Math.min(Number(to), size)
    return count === 0 ? UNSATISFIABLE : { kind: 'part', first: size - count, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return WHOLE
  return first >= size ? UNSATISFIABLE : { kind: 'part', first, last }
}
