import type { Bounds, KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import { isInPyramid } from '@gateway/tilesets/address.js'
import { TILE_MATRIX_SETS, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellGridOf, cellOf } from './cell-grid.js'

const CITY: Bounds = [8.45, 47.32, 8.62, 47.43]

const gridOf = (bounds: Bounds | null, tileMatrixSet: KnownTileMatrixSetId = 'WebMercatorQuad') =>
  cellGridOf({ tileMatrixSet, bounds })

test('the cells of a city and its surroundings are some hundred metres wide, and far away those of the world', () => {
  const grid = gridOf(CITY)
  expect(grid.inner.zoom).toBe(16)
  expect(cellOf(grid, { z: 18, x: 137_270, y: 91_800 })).toEqual({ z: 16, x: 34_317, y: 22_950 })
  expect(cellOf(grid, { z: 12, x: 2_144, y: 1_434 })).toEqual({ z: 12, x: 2_144, y: 1_434 })
  // Sydney.
  expect(cellOf(grid, { z: 18, x: 241_163, y: 157_278 })).toEqual({ z: 6, x: 58, y: 38 })
  expect(cellOf(grid, { z: 0, x: 0, y: 0 })).toEqual({ z: 0, x: 0, y: 0 })
})

test.each<[KnownTileMatrixSetId, Bounds | null, number]>([
  ['WebMercatorQuad', null, 6],
  ['WebMercatorQuad', [-180, -85, 180, 85], 6],
  ['WorldCRS84Quad', null, 5],
  ['WebMercatorQuad', [170, -20, -170, 0], 6],
  ['WebMercatorQuad', [8.5, 47.3, 8.5, 47.3], 22],
])('of %s with bounds %j the smallest cells are those of zoom %i', (set, bounds, zoom) => {
  expect(gridOf(bounds, set).inner.zoom).toBe(zoom)
})

const tile = fc
  .tuple(
    fc.integer({ min: 0, max: 30 }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  )
  .map(([z, x, y]) => ({ z, x: Math.floor(x * 2 ** z), y: Math.floor(y * 2 ** z) }))

test('every tile is in a cell, and no version exceeds the limit of cells, for any requests', () => {
  const bounds = fc
    .tuple(
      fc.double({ min: -170, max: 160, noNaN: true }),
      fc.double({ min: -80, max: 70, noNaN: true }),
      fc.double({ min: 0, max: 10, noNaN: true }),
    )
    .map(([west, south, size]): Bounds => [west, south, west + size, south + size])
  fc.assert(
    fc.property(bounds, tile, (area, asked) => {
      const grid = gridOf(area)
      const cell = cellOf(grid, asked)
      expect(isInPyramid(cell.z, cell.x, cell.y)).toBe(true)
      const scale = 2 ** (asked.z - cell.z)
      expect([Math.floor(asked.x / scale), Math.floor(asked.y / scale)]).toEqual([cell.x, cell.y])
      if (tileTouches(TILE_MATRIX_SETS.WebMercatorQuad, asked, area)) {
        expect(cell.z).toBe(Math.min(asked.z, grid.inner.zoom))
      }
      expect(grid.inner.maxColumn - grid.inner.minColumn).toBeLessThan(64)
      expect(grid.inner.maxRow - grid.inner.minRow).toBeLessThan(64)
    }),
    { seed: 21 },
  )
})
