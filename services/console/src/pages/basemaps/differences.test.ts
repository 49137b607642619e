import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { expect, test } from 'vitest'
import { differences, isWorld, losses } from './differences.js'

const version: BasemapVersion = {
  version: 'a',
  storage: 'xyz',
  format: 'png',
  tile_size: 256,
  min_zoom: 0,
  max_zoom: 8,
  bounds: [0, 0, 10, 10],
  tile_matrix_set: 'WebMercatorQuad',
  coordinate_offset: null,
  crs: 'EPSG:3857',
  revision: 3,
  available: true,
  scanned_at: '2026-01-01T00:00:00Z',
}

test('properties that differ between two versions are listed, except the label and times', () => {
  expect(differences(version, { ...version, version: 'b', scanned_at: '2026-02-01T00:00:00Z' })).toEqual([])
  expect(differences(version, { ...version, format: 'webp', bounds: null })).toEqual(['format', 'bounds'])
})

test('another format, fewer zooms and missing files count as losses for clients', () => {
  expect(losses(version, { ...version, max_zoom: 9 })).toEqual({ format: false, zooms: false, unavailable: false })
  expect(losses(version, { ...version, max_zoom: 7, format: 'webp', available: false })).toEqual({
    format: true,
    zooms: true,
    unavailable: true,
  })
  expect(losses(undefined, version)).toEqual({ format: false, zooms: false, unavailable: false })
})

test('the world means all that Web Mercator can show', () => {
  expect(isWorld([-180, -85.0511, 180, 85.0511])).toBe(true)
  expect(isWorld([-180, -60, 180, 85.0511])).toBe(false)
})
