import { expect, test } from 'vitest'
import { inUnitsOf, TILE_MATRIX_SETS, tileMatrixLimits } from './tile-matrix-sets.js'

const { WebMercatorQuad, WorldCRS84Quad, CGCS2000Quad } = TILE_MATRIX_SETS

test.each([
  ['the world in Web Mercator', WebMercatorQuad, 2, null, [0, 3, 0, 3]],
  ['the world in degrees', WorldCRS84Quad, 2, null, [0, 3, 0, 7]],
  ['the last column in degrees', CGCS2000Quad, 0, [170, -10, 180, 10], [0, 0, 1, 1]],
  ['a quarter, whose edges are those of tiles', WebMercatorQuad, 1, [-180, 0, 0, 85.0511287798066], [0, 0, 0, 0]],
  ['a quarter in degrees', WorldCRS84Quad, 1, [0, 0, 180, 90], [0, 0, 2, 3]],
  ['a place', WebMercatorQuad, 10, [116.3, 39.8, 116.5, 40], [387, 388, 842, 843]],
  ['a place in degrees', WorldCRS84Quad, 10, [116.3, 39.8, 116.5, 40], [284, 285, 1685, 1686]],
  ['both sides of the antimeridian', WorldCRS84Quad, 3, [170, -20, -170, -10], [4, 4, 0, 15]],
  ['beyond the end of Web Mercator', WebMercatorQuad, 3, [-180, -90, 180, 90], [0, 7, 0, 7]],
] as const)('%s has its rows and columns', (_, set, zoom, bounds, [minRow, maxRow, minColumn, maxColumn]) => {
  const limits = tileMatrixLimits(set, zoom, bounds === null ? null : [...bounds])
  expect(limits).toEqual({ zoom, minRow, maxRow, minColumn, maxColumn })
})

test('bounds are given in the units of the system, cut at the ends of Web Mercator', () => {
  expect(inUnitsOf(WorldCRS84Quad, [-180, -90, 180, 90])).toEqual([-180, -90, 180, 90])
  const [west, south, east, north] = inUnitsOf(WebMercatorQuad, [-180, -90, 180, 90])
  for (const [value, limit] of [
    [west, -1],
    [south, -1],
    [east, 1],
    [north, 1],
  ] as const) {
    expect(value).toBeCloseTo(limit * 20037508.342789244, 3)
  }
})

test('scale and cell size of a set agree for pixels of 0.28 mm', () => {
  const metersPerUnit = { WebMercatorQuad: 1, WorldCRS84Quad: 111319.49079327358, CGCS2000Quad: 111319.49079327358 }
  for (const [id, metres] of Object.entries(metersPerUnit)) {
    const set = TILE_MATRIX_SETS[id as keyof typeof metersPerUnit]
    expect((set.cellSize * metres) / 0.00028).toBeCloseTo(set.scaleDenominator, 3)
  }
})
