import type { Bounds } from '@gateway/contracts/basemap.js'

/** Half the width of the Web Mercator square (EPSG:3857), in metres. */
export const HALF_WORLD = Math.PI * 6378137

/** The latitude at which Web Mercator is square; beyond it there are no tiles. */
export const MAX_LATITUDE = 85.0511287798066

const RADIANS = Math.PI / 180

/** A box in metres of EPSG:3857. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

export function mercatorX(longitude: number): number {
  return longitude * RADIANS * 6378137
}

/** Latitudes beyond ±85.0511° are clamped to the edge of the square. */
export function mercatorY(latitude: number): number {
  const clamped = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude))
  return 6378137 * Math.log(Math.tan(Math.PI / 4 + (clamped * RADIANS) / 2))
}

export function longitudeOf(x: number): number {
  return x / 6378137 / RADIANS
}

export function latitudeOf(y: number): number {
  return (2 * Math.atan(Math.exp(y / 6378137)) - Math.PI / 2) / RADIANS
}

/** Metres of EPSG:3857 that one pixel of a tile spans. */
export function resolutionOf(zoom: number, tileSize: number): number {
  return (2 * HALF_WORLD) / (2 ** zoom * tileSize)
}

/** The smallest WGS 84 bounds around boxes; boxes on both sides of the antimeridian give the whole width, as TileJSON has no other way. */
export function boundsAround(boxes: readonly Box[]): Bounds {
  const west = Math.min(...boxes.map((box) => box.west))
  const south = Math.min(...boxes.map((box) => box.south))
  const east = Math.max(...boxes.map((box) => box.east))
  const north = Math.max(...boxes.map((box) => box.north))
  return [longitudeOf(west), latitudeOf(south), longitudeOf(east), latitudeOf(north)].map(
    (degrees) => Math.round(degrees * 1e9) / 1e9,
  ) as Bounds
}

export function unionOfBounds(a: Bounds, b: Bounds): Bounds {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}
