import { HALF_WORLD, latitudeOf, longitudeOf } from './mercator.js'
import type { Box, TileSpace } from './space.js'

/** GDAL's affine transform from pixel (column, row) to georeferenced coordinates. */
export type GeoTransform = readonly [number, number, number, number, number, number]

export type Point = readonly [number, number]

/** The relation of a source's coordinates to longitude and latitude. */
export type CrsKind = 'geographic' | 'web-mercator' | 'other'

/** One appearance of a source on the map. Across the antimeridian a source has two. */
export interface Placement {
  /** added to the source's x coordinates to move this part into the map's range */
  readonly shift: number
  readonly box: Box
}

export interface Footprint {
  readonly placements: readonly Placement[]
  /** units of the tiles' space per source pixel where the source is finest */
  readonly resolution: number
  /** units of the tiles' space along the shorter side, regardless of the antimeridian */
  readonly shorterSide: number
}

/** Sampling density: 20 cells a side keep the error of a curved edge below the added margin. */
const CELLS = 20

/** Degrees. Two neighbouring samples further apart than this are on both sides of a pole. */
const POLE_JUMP = 90

/** Returns a function that locates pixels by a transform. */
export function locatedBy(transform: GeoTransform): (px: number, py: number) => Point {
  return (px, py) => [
    transform[0] + px * transform[1] + py * transform[2],
    transform[3] + px * transform[4] + py * transform[5],
  ]
}

/** Returns the sample points of a raster, row by row, in its own georeferenced coordinates. */
export function samplePoints(width: number, height: number, locate: (px: number, py: number) => Point): Point[] {
  const points: Point[] = []
  for (let row = 0; row <= CELLS; row++) {
    for (let column = 0; column <= CELLS; column++) {
      points.push(locate((width * column) / CELLS, (height * row) / CELLS))
    }
  }
  return points
}

/** Converts sample points of a geographic or Web Mercator source to longitude and latitude. Those of others need PROJ. */
export function asLongLat(kind: 'geographic' | 'web-mercator', points: readonly Point[]): Point[] {
  if (kind === 'geographic') return [...points]
  return points.map(([x, y]) => [longitudeOf(x), latitudeOf(y)])
}

/**
 * Returns the place of a raster on the map, from its sample points as longitude and latitude (not finite: outside of the
 * projection's domain). `null`: it is completely outside of the latitudes of the tiles' space.
 */
export function footprintOf(
  kind: CrsKind,
  width: number,
  height: number,
  points: readonly Point[],
  poles: { readonly north: boolean; readonly south: boolean },
  space: TileSpace,
  turns: readonly number[] = [0],
): Footprint | null {
  const line = kind === 'other' ? unwrap(points) : { points, torn: false }
  const known = line.points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
  if (known.length === 0) return null
  const partial = known.length < points.length
  const all = poles.north || poles.south || line.torn
  const xs = known.map(([x]) => x)
  const ys = known.map(([, y]) => y)
  const west = all ? -180 : Math.min(...xs)
  const east = all ? 180 : Math.max(...xs)
  const south = poles.south ? -90 : Math.min(...ys)
  const north = poles.north ? 90 : Math.max(...ys)
  // A curved edge may bulge between samples: half a hundredth of the size, or a cell if samples are missing.
  const slack = kind === 'other' ? (partial ? 1 / CELLS : 0.005) : 0
  const marginX = (east - west) * slack
  const marginY = (north - south) * slack
  const placements = place(space, kind, west - marginX, south - marginY, east + marginX, north + marginY).flatMap(
    ({ box, shift }) => turns.map((turn) => ({ box, shift: shift + turn })),
  )
  if (placements.length === 0) return null
  const shorterSide = Math.min(space.x(east - west), space.y(north) - space.y(south))
  return { placements, resolution: finest(space, line.points, width, height), shorterSide }
}

/** Pixels by which a point may miss itself after it was projected there and back. */
const RETURN_TOLERANCE = 0.5

/** Minimum share of a source's longer side that a turn around the earth is. Smaller differences are errors of the projection. */
const MIN_TURN = 0.5

/** Maximum number of turns of one source. More are errors of the projection, not turns. */
const MAX_TURNS = 3

/**
 * Returns what is added to a projected source's x so that the projection of its places leads into it. A cylindrical projection repeats itself
 * after a turn around the earth, but PROJ knows only one turn: beyond the projection's own seam, it leads to the other end of the plane.
 * @param there the sample points; @param back the same, projected to the earth and back
 */
export function turnsOf(
  there: readonly Point[],
  back: readonly Point[],
  { transform, width, height }: { readonly transform: GeoTransform; readonly width: number; readonly height: number },
): number[] {
  const pixel = Math.max(Math.hypot(transform[1], transform[4]), Math.hypot(transform[2], transform[5]))
  const size = pixel * Math.max(width, height)
  const turns: number[] = []
  back.forEach(([x, y], index) => {
    const [sourceX, sourceY] = there[index]!
    const turn = x - sourceX
    // Not finite: outside of the projection's domain.
    if (!(Math.abs(y - sourceY) <= RETURN_TOLERANCE * pixel) || !Number.isFinite(turn)) return
    const isHere = Math.abs(turn) <= RETURN_TOLERANCE * pixel
    if (isHere && !turns.includes(0)) turns.push(0)
    if (isHere || Math.abs(turn) < size * MIN_TURN) return
    if (!turns.some((known) => Math.abs(known - turn) <= RETURN_TOLERANCE * pixel)) turns.push(turn)
  })
  return turns.length > 0 && turns.length <= MAX_TURNS ? turns : [0]
}

/** Makes longitudes continuous between neighbouring samples, so that 179.9 is followed by 180.1. */
function unwrap(points: readonly Point[]): { points: Point[]; torn: boolean } {
  const result: Point[] = []
  let torn = false
  points.forEach(([x, y], index) => {
    const column = index % (CELLS + 1)
    const neighbour = (column > 0 ? result[index - 1] : undefined) ?? result[index - CELLS - 1]
    if (!neighbour || !Number.isFinite(neighbour[0]) || !Number.isFinite(x)) {
      result.push([x, y])
      return
    }
    const step = x - neighbour[0]
    const turned = step - 360 * Math.round(step / 360)
    if (Math.abs(turned) > POLE_JUMP) torn = true
    result.push([neighbour[0] + turned, y])
  })
  return { points: result, torn }
}

function place(space: TileSpace, kind: CrsKind, west: number, south: number, east: number, north: number): Placement[] {
  if (north <= -space.maxLatitude || south >= space.maxLatitude) return []
  const placements: Placement[] = []
  const whole = east - west >= 360 && kind === 'other'
  for (let turn = -2; turn <= 2; turn++) {
    if (whole && turn !== 0) continue
    const left = whole ? -180 : Math.max(-180, west + 360 * turn)
    const right = whole ? 180 : Math.min(180, east + 360 * turn)
    // A sliver of rounding errors is not part of the source.
    if (right - left <= (east - west) * 1e-9) continue
    const box = { west: space.x(left), south: space.y(south), east: space.x(right), north: space.y(north) }
    placements.push({ box, shift: shiftOf(kind, turn) })
  }
  return placements
}

/** PROJ normalises longitudes of projected sources. The others are shifted by whole turns. */
function shiftOf(kind: CrsKind, turn: number): number {
  if (kind === 'geographic') return 360 * turn
  return kind === 'web-mercator' ? 2 * HALF_WORLD * turn : 0
}

function finest(space: TileSpace, points: readonly Point[], width: number, height: number): number {
  let resolution = Number.POSITIVE_INFINITY
  const at = (row: number, column: number) => points[row * (CELLS + 1) + column]!
  const consider = (a: Point, b: Point, pixels: number) => {
    if (Math.abs(a[1]) > space.maxLatitude || Math.abs(b[1]) > space.maxLatitude) return
    const size = Math.hypot(space.x(b[0]) - space.x(a[0]), space.y(b[1]) - space.y(a[1])) / pixels
    if (size > 0 && size < resolution) resolution = size
  }
  for (let row = 0; row <= CELLS; row++) {
    for (let column = 0; column <= CELLS; column++) {
      if (column < CELLS) consider(at(row, column), at(row, column + 1), width / CELLS)
      if (row < CELLS) consider(at(row, column), at(row + 1, column), height / CELLS)
    }
  }
  return resolution
}
