/** Limit: zoom levels. 2^30 columns still fit a signed 32-bit integer, and a tile there is under 4 cm wide. */
export const MAX_ZOOM = 30

/** One tile of the XYZ scheme: row 0 in the north (OGC Two Dimensional Tile Matrix Set, WebMercatorQuad). */
export interface TileAddress {
  readonly ok: true
  readonly z: number
  readonly x: number
  readonly y: number
  /** as in the address, without the dot: letters and digits */
  readonly extension: string
}

/** `malformed`: not the form of a tile address. `out_of_range`: the form is right, but the pyramid has no such tile. */
export interface NoTileAddress {
  readonly ok: false
  readonly reason: 'malformed' | 'out_of_range'
}

const MALFORMED: NoTileAddress = { ok: false, reason: 'malformed' }
const OUT_OF_RANGE: NoTileAddress = { ok: false, reason: 'out_of_range' }

/** Limit: digits of a number; all that follows is out of range anyway, and ten digits are exact in a double. */
const MAX_DIGITS = 10

/**
 * Reads the last three segments of a tile address, `{z}/{x}/{y}.{ext}`. Numbers are plain decimal digits in their one canonical
 * form: no sign, no leading zero, no exponent, so that one tile has one address in every cache.
 */
export function parseTileAddress(zText: string, xText: string, yDotExtension: string): TileAddress | NoTileAddress {
  const dot = yDotExtension.indexOf('.')
  const extension = yDotExtension.slice(dot + 1)
  if (dot < 0 || !isExtension(extension)) return MALFORMED
  const z = parseIndex(zText)
  const x = parseIndex(xText)
  const y = parseIndex(yDotExtension.slice(0, dot))
  if (z < 0 || x < 0 || y < 0) return MALFORMED
  if (!isInPyramid(z, x, y)) return OUT_OF_RANGE
  return { ok: true, z, x, y, extension }
}

/** Whether zoom, column and row are those of a tile: z up to MAX_ZOOM, x and y below 2^z. Takes whole numbers from 0. */
export function isInPyramid(z: number, x: number, y: number): boolean {
  if (z > MAX_ZOOM) return false
  const size = 2 ** z
  return x < size && y < size
}

/** The row of the same tile in the other scheme: TMS counts from the south, XYZ from the north. Its own inverse. */
export function flipRow(z: number, y: number): number {
  return 2 ** z - 1 - y
}

/** A whole number in canonical decimal form; -1 for anything else; Infinity where it is too long to be an index. */
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
