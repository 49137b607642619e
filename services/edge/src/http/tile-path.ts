/** What an address below `/tiles/` asks for. `version` null: the route without one. The texts of a tile's place are not judged yet. */
export type TilePath =
  | {
      readonly kind: 'tile'
      readonly code: string
      readonly version: string | null
      readonly z: string
      readonly x: string
      readonly yDotExtension: string
    }
  | { readonly kind: 'tilejson'; readonly code: string; readonly version: string | null }
  | { readonly kind: 'absent' }
  | { readonly kind: 'undecodable' }

const PREFIX = '/tiles/'
const TILEJSON = 'tilejson.json'
const ABSENT: TilePath = { kind: 'absent' }
const UNDECODABLE: TilePath = { kind: 'undecodable' }

/**
 * Takes an address apart. Each segment is percent-decoded once, and only where it has a percent sign; what comes out is looked up by
 * name, never used as a path, so that it may hold anything.
 */
export function parseTilePath(path: string): TilePath {
  const segments = path.slice(PREFIX.length).split('/')
  if (segments.length < 2 || segments.length > 5 || segments.includes('')) return ABSENT
  const [a, b, c, d, e] = segments.map(decodedSegment)
  if (a === null || b === null || c === null || d === null || e === null) return UNDECODABLE
  switch (segments.length) {
    case 2:
      return b === TILEJSON ? { kind: 'tilejson', code: a as string, version: null } : ABSENT
    case 3:
      return c === TILEJSON ? { kind: 'tilejson', code: a as string, version: b as string } : ABSENT
    case 4:
      return {
        kind: 'tile',
        code: a as string,
        version: null,
        z: b as string,
        x: c as string,
        yDotExtension: d as string,
      }
    default:
      return {
        kind: 'tile',
        code: a as string,
        version: b as string,
        z: c as string,
        x: d as string,
        yDotExtension: e as string,
      }
  }
}

/** null: not UTF-8 in percent-encoding (RFC 3986, 2.1). */
export function decodedSegment(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
