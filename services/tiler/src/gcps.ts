import type { GeoTransform, Point } from './footprint.js'

/** A ground control point: the position of a pixel (column and line, from the corner of the first) in a reference system. */
export interface Gcp {
  readonly pixel: number
  readonly line: number
  readonly x: number
  readonly y: number
}

/** The placement of an image with ground control points and without a transform. */
export interface GcpPlacing {
  /** the affine transform with the best fit */
  readonly transform: GeoTransform
  /** points of a polynomial of the second order, over the whole image; null: the transform suffices */
  readonly points: readonly Gcp[] | null
  /** Returns the position of a pixel. */
  locate(pixel: number, line: number): Point
}

/** Maximum error in pixels of an accepted affine transform. GDAL's is also a quarter. */
const AFFINE_TOLERANCE = 0.25

/** The same as in GDAL: fewer points do not determine a polynomial of the second order. */
const MIN_POINTS_OF_SECOND_ORDER = 6

/** Points along a side of the grid that represents a polynomial. GDAL's fit through 25 points of it is the polynomial itself. */
const GRID = 5

/** Places an image like gdalwarp: by an affine transform, or by a polynomial of the second order. Returns null if the points do not suffice. */
export function placeByGcps(gcps: readonly Gcp[], width: number, height: number): GcpPlacing | null {
  const affine = fitted(gcps, 1, width, height)
  if (affine === null) return null
  const origin = affine(0, 0)
  const right = affine(1, 0)
  const down = affine(0, 1)
  const transform: GeoTransform = [
    origin[0],
    right[0] - origin[0],
    down[0] - origin[0],
    origin[1],
    right[1] - origin[1],
    down[1] - origin[1],
  ]
  const size = Math.sqrt(Math.abs(transform[1] * transform[5] - transform[2] * transform[4]))
  if (!(size > 0)) return null
  const misses = gcps.map(({ pixel, line, x, y }) => {
    const [fittedX, fittedY] = affine(pixel, line)
    return Math.hypot(fittedX - x, fittedY - y) / size
  })
  const isAffine = Math.max(...misses) <= AFFINE_TOLERANCE || gcps.length < MIN_POINTS_OF_SECOND_ORDER
  const curved = isAffine ? null : fitted(gcps, 2, width, height)
  if (curved === null) return { transform, points: null, locate: affine }
  return { transform, points: gridOf(curved, width, height), locate: curved }
}

function gridOf(locate: (pixel: number, line: number) => Point, width: number, height: number): Gcp[] {
  return Array.from({ length: GRID * GRID }, (_, i) => {
    const pixel = (width * (i % GRID)) / (GRID - 1)
    const line = (height * Math.floor(i / GRID)) / (GRID - 1)
    const [x, y] = locate(pixel, line)
    return { pixel, line, x, y }
  })
}

type Locate = (pixel: number, line: number) => Point

/** Returns the polynomial of the least squares, or null if the points do not determine one. Pixels are scaled by the image size, which keeps the sums small. */
function fitted(gcps: readonly Gcp[], order: 1 | 2, width: number, height: number): Locate | null {
  const terms = (pixel: number, line: number): number[] => {
    const [u, v] = [pixel / width, line / height]
    return order === 1 ? [1, u, v] : [1, u, v, u * u, u * v, v * v]
  }
  const rows = gcps.map(({ pixel, line }) => terms(pixel, line))
  const base = gcps[0] ?? { x: 0, y: 0 }
  const solveFor = (values: readonly number[]) => leastSquares(rows, values)
  const xs = solveFor(gcps.map(({ x }) => x - base.x))
  const ys = solveFor(gcps.map(({ y }) => y - base.y))
  if (xs === null || ys === null) return null
  const value = (coefficients: readonly number[], at: readonly number[]) =>
    at.reduce((sum, term, i) => sum + term * coefficients[i]!, 0)
  return (pixel, line) => {
    const at = terms(pixel, line)
    return [base.x + value(xs, at), base.y + value(ys, at)]
  }
}

/** Smaller pivots, of sums of products of at most one, are rounding errors of collinear points. */
const SINGULAR = 1e-9

/** Solves the normal equations by elimination with pivots. Returns null without a unique solution. */
function leastSquares(rows: readonly number[][], values: readonly number[]): number[] | null {
  const size = rows[0]?.length ?? 0
  if (size === 0 || rows.length < size) return null
  const matrix = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0) / rows.length),
    rows.reduce((sum, row, k) => sum + row[i]! * values[k]!, 0) / rows.length,
  ])
  for (let column = 0; column < size; column++) {
    const pivot = argmax(matrix, column)
    if (Math.abs(matrix[pivot]![column]!) < SINGULAR) return null
    ;[matrix[column], matrix[pivot]] = [matrix[pivot]!, matrix[column]!]
    const head = matrix[column]!
    for (const [i, row] of matrix.entries()) {
      if (i === column) continue
      const factor = row[column]! / head[column]!
      for (let j = column; j <= size; j++) row[j] = row[j]! - factor * head[j]!
    }
  }
  return matrix.map((row, i) => row[size]! / row[i]!)
}

function argmax(matrix: readonly number[][], column: number): number {
  let best = column
  for (let i = column; i < matrix.length; i++) {
    if (Math.abs(matrix[i]![column]!) > Math.abs(matrix[best]![column]!)) best = i
  }
  return best
}
