/** What a Range header asks of a file: all of it, one part (both ends included), or something it does not have. */
export type ByteRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE: ByteRange = { kind: 'whole' }
const UNSATISFIABLE: ByteRange = { kind: 'unsatisfiable' }

/**
 * Reads a Range header (RFC 9110, 14.2) for a file of `size` bytes. Another unit, a malformed header and several ranges at once are
 * answered with the whole file, as the standard allows.
 */
export function parseByteRange(header: string, size: number): ByteRange {
  const match = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header)
  if (match === null) return WHOLE
  const [, from, to] = match as unknown as [string, string, string]
  if (from === '' && to === '') return WHOLE
  if (from === '') {
    const count = Math.min(Number(to), size)
    return count === 0 ? UNSATISFIABLE : { kind: 'part', first: size - count, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return WHOLE
  return first >= size ? UNSATISFIABLE : { kind: 'part', first, last }
}
