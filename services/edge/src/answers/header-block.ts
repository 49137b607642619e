/**
 * Several header lines, prepared for one call: the name of the first, and its value followed by the other lines. The HTTP server writes a value
 * unchanged, so a block costs as much as one header. Values from callers are always checked.
 */
export interface HeaderBlock {
  readonly name: string
  readonly value: string
}

export type Header = readonly [name: string, value: string]

/** Throws if a value would break out of its line. Names from callers (file names) must be encoded before. */
export function headerBlock(first: Header, ...more: readonly Header[]): HeaderBlock {
  const lines = [first, ...more]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
  const broken = lines.find(([, value]) => /[\x00-\x08\x0a-\x1f\x7f]/.test(value))
  if (broken !== undefined) throw new Error(`the header ${broken[0]} has a control character`)
  return { name: first[0], value: [first[1], ...more.map(([name, value]) => `${name}: ${value}`)].join('\r\n') }
}

/**
 * Header that uWebSockets.js adds to each of its responses, in addition to the date and the length. The native table adds it too, so that its
 * responses look the same.
 */
export const SERVER_MARK: Header = ['uWebSockets', '20']

/** Lets any web page read what its token allows. Refusals also have these headers, so that a page can read the reason. */
export const CORS: readonly Header[] = [
  ['Access-Control-Allow-Origin', '*'],
  [
    'Access-Control-Expose-Headers',
    'ETag, Last-Modified, Content-Length, Content-Range, Accept-Ranges, Content-Disposition, WWW-Authenticate, Retry-After',
  ],
  ['Timing-Allow-Origin', '*'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['X-Content-Type-Options', 'nosniff'],
]

export const PREFLIGHT: HeaderBlock = headerBlock(
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS'],
  [
    'Access-Control-Allow-Headers',
    'Authorization, X-Access-Token, X-Esri-Authorization, Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Cache-Control, Pragma, Accept, Content-Type',
  ],
  ['Access-Control-Max-Age', '86400'],
  ['Allow', 'GET, HEAD, OPTIONS'],
)
