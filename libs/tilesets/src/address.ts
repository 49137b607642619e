import { type KnownTileMatrixSetId, TILE_MATRIX_SET_IDS, type TileMatrixSetId } from '@gateway/contracts/basemap.js'

/** Maximum zoom level. 2^30 columns still fit in a signed 32-bit integer, and a tile there is less than 4 cm wide. */
export const MAX_ZOOM = 30

/** Limit: columns and rows of a zoom in any grid: those of the deepest zoom of a geographic grid. */
export const MAX_TILE_INDEX = 2 ** (MAX_ZOOM + 1) - 1

/** One tile of the XYZ scheme: row 0 in the north (OGC Two Dimensional Tile Matrix Set, WebMercatorQuad). */
export interface TileAddress {
  readonly ok: true
  readonly z: number
  readonly x: number
  readonly y: number
  /** `@2x`: the tile with twice the pixels, which a folder has next to the plain one */
  readonly suffix: '' | '@2x'
  /** as in the URL, without the dot: letters and digits */
  readonly extension: string
}

/** `malformed`: not the form of a tile address. `out_of_range`: the form is valid, but the pyramid has no such tile at zoom `z`, if it has that zoom. */
export type NoTileAddress =
  | { readonly ok: false; readonly reason: 'malformed' }
  | { readonly ok: false; readonly reason: 'out_of_range'; readonly z: number }

const RETINA = '@2x'
const MALFORMED: NoTileAddress = { ok: false, reason: 'malformed' }

/** Maximum digits of a number. Longer numbers are out of range in any case, and ten digits are exact in a double. */
const MAX_DIGITS = 10

/**
 * Reads the last three segments of a tile address, `{z}/{x}/{y}.{ext}` or `{z}/{x}/{y}@2x.{ext}`. Numbers are plain decimal digits in their one canonical
 * form: no sign, no leading zero, no exponent, so that one tile has one address in every cache. `grid` null: it is not known yet.
 */
export function parseTileAddress(
  zText: string,
  xText: string,
  yDotExtension: string,
  grid: TileMatrixSetId | null = 'WebMercatorQuad',
): TileAddress | NoTileAddress {
  const dot = yDotExtension.indexOf('.')
  const extension = yDotExtension.slice(dot + 1)
  if (dot < 0 || !isExtension(extension)) return MALFORMED
  const z = parseIndex(zText)
  const x = parseIndex(xText)
  const suffix = yDotExtension.startsWith(RETINA, dot - RETINA.length) ? RETINA : ''
  const y = parseIndex(yDotExtension.slice(0, dot - suffix.length))
  if (z < 0 || x < 0 || y < 0) return MALFORMED
  if (!isInPyramid(z, x, y, grid)) return { ok: false, reason: 'out_of_range', z }
  return { ok: true, z, x, y, suffix, extension }
}

/**
 * True if a tile can have this zoom, column and row: z up to MAX_ZOOM, y below 2^z, x below 2^z in Web Mercator and below twice that in the
 * geographic grids. The arguments are whole numbers from 0. If the grid is unknown or a set's own (see `isInSet`), accepts every tile that any grid
 * may have.
 */
export function isInPyramid(
  z: number,
  x: number,
  y: number,
  grid: TileMatrixSetId | null = 'WebMercatorQuad',
): boolean {
  if (z > MAX_ZOOM) return false
  if (grid === null || !isKnownGrid(grid)) return x <= MAX_TILE_INDEX && y <= MAX_TILE_INDEX
  const size = 2 ** z
  return x < (grid === 'WebMercatorQuad' ? size : 2 * size) && y < size
}

/** True for a grid with a name; false for a set's own grid. */
export function isKnownGrid(grid: TileMatrixSetId): grid is KnownTileMatrixSetId {
  return (TILE_MATRIX_SET_IDS as readonly string[]).includes(grid)
}

/** The row of the same tile in the other scheme: TMS counts from the south, XYZ from the north. Its own inverse. */
export function flipRow(z: number, y: number): number {
  return 2 ** z - 1 - y
}

/** Parses a whole number in canonical decimal form. Returns -1 for other text, and Infinity for a number too long to be an index. */
export function parseIndex(text: string): number {
  const length = text.length
  if (length === 0 || (length > 1 && text.charCodeAt(0) === 48)) return -1
  let value = 0
  for (let i = 0; i < length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return length > MAX_DIGITS ? Number.POSITIVE_INFINITY : value
}

function isExtension(text: string): boolean {
  return /^[A-Za-z0-9]{1,8}$/.test(text)
}

/** The resource of a path below `/tiles/`. `version` null: the path names none. */
export type TilePath =
  | {
      readonly kind: 'tile'
      readonly code: string
      readonly version: string | null
      readonly address: TileAddress | NoTileAddress
    }
  | { readonly kind: 'tilejson'; readonly code: string; readonly version: string | null }
  | { readonly kind: 'absent' }
  | { readonly kind: 'undecodable' }

const PREFIX = '/tiles/'
const TILEJSON = 'tilejson.json'
const ABSENT: TilePath = { kind: 'absent' }
const UNDECODABLE: TilePath = { kind: 'undecodable' }

/**
 * Splits a path. Each segment is percent-decoded once, and only if it has a percent sign. The result is looked up by name and never used as a
 * file path, so it may contain anything.
 */
export function parseTilePath(path: string): TilePath {
  const segments = path.slice(PREFIX.length).split('/')
  const count = segments.length
  if (count < 2 || count > 5 || segments.includes('')) return ABSENT
  if (path.includes('%')) {
    for (const [i, segment] of segments.entries()) {
      const decoded = decodedSegment(segment)
      if (decoded === null) return UNDECODABLE
      segments[i] = decoded
    }
  }
  const code = segments[0] as string
  const last = segments[count - 1] as string
  const version = count === 3 || count === 5 ? (segments[1] as string) : null
  if (count <= 3) return last === TILEJSON ? { kind: 'tilejson', code, version } : ABSENT
  return {
    kind: 'tile',
    code,
    version,
    // Which grid the version lies in is not known yet; columns and rows are judged with it.
    address: parseTileAddress(segments[count - 3] as string, segments[count - 2] as string, last, null),
  }
}

/** Returns a segment without escapes, or U+FFFD, which is no name, if it cannot be decoded. An empty segment would name the list above it. */
export function segmentOrUnknown(text: string): string {
  return decodedSegment(text) ?? '\ufffd'
}

/** Returns null for text that is not UTF-8 in percent-encoding (RFC 3986, 2.1). */
export function decodedSegment(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
