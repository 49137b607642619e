import type { Bounds } from '@gateway/contracts/basemap.js'

/** Half the width of the Web Mercator square (EPSG:3857), in metres. */
export const HALF_WORLD = Math.PI * 6378137

/** Latitude at which Web Mercator is square; there are no tiles beyond it. */
export const MAX_LATITUDE = 85.0511287798066

const RADIANS = Math.PI / 180

export function mercatorX(longitude: number): number {
  return longitude * RADIANS * 6378137
}

/** Clamps latitudes beyond ±85.0511° to the edge of the square. */
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

/** Degrees. A narrower gap is rounding, and the bounds then span the earth. */
const NARROWEST_GAP = 1e-6

/**
 * Returns the smallest bounds around others, which leave out the widest gap between them. If that gap is not the one at the antimeridian, the bounds
 * cross it, with west greater than east (RFC 7946, 5.2).
 */
export function unionOfBounds(all: readonly Bounds[]): Bounds {
  const spans = all
    .flatMap(([west, , east]) =>
      west > east ? [[west, 180] as const, [-180, east] as const] : [[west, east] as const],
    )
    .sort((a, b) => a[0] - b[0])
  const south = Math.min(...all.map((bounds) => bounds[1]))
  const north = Math.max(...all.map((bounds) => bounds[3]))
  const first = spans[0]![0]
  let reach = first
  let gap = { from: 0, to: 0 }
  for (const [west, east] of spans) {
    if (west - reach > gap.to - gap.from) gap = { from: reach, to: west }
    reach = Math.max(reach, east)
  }
  const across = first + 360 - reach
  return gap.to - gap.from > across + NARROWEST_GAP ? [gap.to, south, gap.from, north] : [first, south, reach, north]
}
