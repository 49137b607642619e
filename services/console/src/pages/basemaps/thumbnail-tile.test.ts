import type { Bounds } from '@gateway/contracts/basemap.js'
import { expect, test } from 'vitest'
import { thumbnailTile } from './thumbnail-tile.js'

const version = { min_zoom: 0, max_zoom: 14, tile_matrix_set: 'WebMercatorQuad' as const }

test.each<[string, Bounds | null, number, number, number]>([
  ['the world', [-180, -85, 180, 85], 0, 0, 0],
  ['unknown bounds', null, 0, 0, 0],
  ['a quarter', [1, 1, 170, 80], 1, 1, 0],
  ['a town', [8.4, 47.3, 8.6, 47.4], 10, 536, 358],
  ['an island across the antimeridian', [179, -20, -179, -10], 5, 31, 17],
])('the thumbnail of %s has about the same size', (_name, bounds, z, x, y) => {
  expect(thumbnailTile({ ...version, bounds })).toEqual({ z, x, y })
})

test('a thumbnail has a zoom that the version has', () => {
  expect(thumbnailTile({ ...version, min_zoom: 3, bounds: null }).z).toBe(3)
  expect(thumbnailTile({ ...version, max_zoom: 2, bounds: [8.4, 47.3, 8.6, 47.4] }).z).toBe(2)
})

test('a version in longitude and latitude has two tiles at zoom 0', () => {
  const flat = { ...version, tile_matrix_set: 'WorldCRS84Quad' as const }
  expect(thumbnailTile({ ...flat, bounds: [-180, -90, 180, 90] })).toEqual({ z: 0, x: 0, y: 0 })
  expect(thumbnailTile({ ...flat, bounds: [100, 10, 110, 20] })).toEqual({ z: 4, x: 25, y: 6 })
})
