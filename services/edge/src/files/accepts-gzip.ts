/** Limit: characters of a list; a longer one accepts nothing. */
const MAX_LENGTH = 512

/**
 * True if an Accept-Encoding header (RFC 9110, 12.5.3) allows a response in gzip. If the header is absent, only plain responses are
 * accepted.
 */
export function acceptsGzip(header: string): boolean {
  if (header === '' || header.length > MAX_LENGTH) return false
  if (header === 'gzip' || header.startsWith('gzip,')) return true
  let any = false
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const refused = parameters.some((parameter) => /^q\s*=\s*0(\.0{0,3})?$/.test(parameter))
    if (coding === 'gzip' || coding === 'x-gzip') return !refused
    if (coding === '*') any = !refused
  }
  return any
}
