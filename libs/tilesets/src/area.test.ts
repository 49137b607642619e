import type { Bounds } from '@gateway/contracts/basemap.js'
import { expect, test } from 'vitest'
import { commonBounds, commonParts } from './area.js'
import { TILE_MATRIX_SETS, tileTouches } from './tile-matrix-sets.js'

test.each<[Bounds, Bounds, Bounds[]]>([
  [[0, 0, 20, 20], [10, 10, 30, 30], [[10, 10, 20, 20]]],
  [[0, 0, 20, 20], [20, 0, 30, 20], []],
  [[0, 0, 20, 20], [30, 30, 40, 40], []],
  [[170, -10, -170, 10], [-180, -85, 180, 85], [[170, -10, -170, 10]]],
  [[170, -10, -170, 10], [160, 0, 175, 20], [[170, 0, 175, 10]]],
  [[170, -10, -170, 10], [160, -20, -175, 20], [[170, -10, -175, 10]]],
  [
    [100, 0, -100, 10],
    [-120, 0, 120, 10],
    [
      [100, 0, 120, 10],
      [-120, 0, -100, 10],
    ],
  ],
])('%j and %j have %j in common', (one, other, parts) => {
  expect(commonParts(one, other)).toEqual(parts)
  expect(new Set(commonParts(other, one).map(String))).toEqual(new Set(parts.map(String)))
})

test('the bounds of two parts contain both, and those of nothing are null', () => {
  expect(commonBounds([100, 0, -100, 10], [-120, 0, 120, 10])).toEqual([100, 0, -100, 10])
  expect(commonBounds([0, 0, 1, 1], [2, 2, 3, 3])).toBeNull()
  expect(commonBounds([0, 0, 1, 1], null)).toEqual([0, 0, 1, 1])
})

test.each<Bounds>([
  [0, 86, 10, 89],
  [0, -90, 10, -85.06],
  [180, 0, -180, 10],
])('no tile of Web Mercator touches %j, which lies outside of its grid or is empty', (...area) => {
  for (const y of [0, 1, 2, 3]) {
    for (const x of [0, 1, 2, 3])
      expect(tileTouches(TILE_MATRIX_SETS.WebMercatorQuad, { z: 2, x, y }, area)).toBe(false)
  }
})
