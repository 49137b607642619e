import type { DrawnView } from '@gateway/contracts/drawing.js'
import type { TilePlace } from '@gateway/tilesets/source.js'

/** Longest side in pixels of what is drawn at once: a picture of twice that takes ten seconds without a graphics card. */
const MOST_PIXELS = 2048
/** Most tiles in a row of a square, so that few labels cross the edge of one. */
const MOST_TILES = 4
/** Points that are drawn around a square. Labels within them keep those inside away from each other as in the next square. */
const MARGIN = 192
/** Width in points of the world in MapLibre at zoom 0. */
const WORLD = 512

/** Points of a rendered tile's side. */
export type PictureTileSize = 256 | 512
/** Pixels of a point. */
export type PictureRatio = 1 | 2

/** Tiles that are drawn at once. */
export interface Square {
  readonly tiles: readonly TilePlace[]
  /** tiles in a row */
  readonly side: number
  readonly view: DrawnView
  /** points of a side, without the margin */
  readonly size: number
  readonly margin: number
}

/** Returns the number of tiles in a row of a full square, a power of two. */
export function tilesInRow(tileSize: PictureTileSize, ratio: PictureRatio): number {
  return Math.min(MOST_TILES, MOST_PIXELS / (tileSize * ratio))
}

/** Returns the square in which a tile lies. At the first zooms it is the whole world. */
export function squareOf({ z, x, y }: TilePlace, tileSize: PictureTileSize, ratio: PictureRatio): Square {
  const inRow = 2 ** z
  const side = Math.min(inRow, tilesInRow(tileSize, ratio))
  const [left, top] = [x - (x % side), y - (y % side)]
  const tiles = Array.from({ length: side ** 2 }, (_, i) => ({
    z,
    x: left + (i % side),
    y: top + Math.floor(i / side),
  }))
  const view: DrawnView = {
    center: [longitudeOf((left + side / 2) / inRow), latitudeOf((top + side / 2) / inRow)],
    zoom: z + Math.log2(tileSize / WORLD),
    bearing: 0,
    pitch: 0,
  }
  return { tiles, side, view, size: side * tileSize, margin: MARGIN }
}

/** @param part of the world's width from the west, 0 to 1 */
export function longitudeOf(part: number): number {
  return part * 360 - 180
}

/** @param part of the Mercator world's height from the north, 0 to 1 */
export function latitudeOf(part: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * part))) * 180) / Math.PI
}

/** The inverse of `longitudeOf` and `latitudeOf`. */
export function partsOf([longitude, latitude]: readonly [number, number]): readonly [x: number, y: number] {
  const sine = Math.sin((latitude * Math.PI) / 180)
  return [(longitude + 180) / 360, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)]
}

/** Returns the view in which a box of the Mercator world just fits into a picture, all in parts of the world. */
export function fittingView(
  [minX, minY, maxX, maxY]: readonly [number, number, number, number],
  room: { readonly width: number; readonly height: number },
  mostZoom: number,
): DrawnView {
  const zooms = [Math.log2(room.width / (WORLD * (maxX - minX))), Math.log2(room.height / (WORLD * (maxY - minY)))]
  const zoom = Math.max(0, Math.min(mostZoom, ...zooms))
  return { center: [longitudeOf((minX + maxX) / 2), latitudeOf((minY + maxY) / 2)], zoom, bearing: 0, pitch: 0 }
}

/** Returns the bounds in degrees of what a view shows; null if it is turned or tilted, or shows more than the world. */
export function boundsOfView(
  { center, zoom, bearing, pitch }: DrawnView,
  { width, height }: { readonly width: number; readonly height: number },
): readonly [west: number, south: number, east: number, north: number] | null {
  if (bearing !== 0 || pitch !== 0) return null
  const [x, y] = partsOf(center)
  const [halfWidth, halfHeight] = [width, height].map((points) => points / (2 * WORLD * 2 ** zoom)) as [number, number]
  if (halfWidth > 0.5 || y - halfHeight < 0 || y + halfHeight > 1) return null
  return [
    longitudeOf(x - halfWidth),
    latitudeOf(y + halfHeight),
    longitudeOf(x + halfWidth),
    latitudeOf(y - halfHeight),
  ]
}
