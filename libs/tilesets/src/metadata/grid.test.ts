import { expect, test } from 'vitest'
import { readGrid } from './grid.js'

test.each([
  [{}, 'WebMercatorQuad'],
  [{ crs: 'EPSG:3857' }, 'WebMercatorQuad'],
  [{ srs: 'EPSG:900913' }, 'WebMercatorQuad'],
  [{ profile: 'mercator' }, 'WebMercatorQuad'],
  [{ profile: 'geodetic' }, 'WorldCRS84Quad'],
  [{ crs: 'urn:ogc:def:crs:EPSG::4326' }, 'WorldCRS84Quad'],
  [{ crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' }, 'WorldCRS84Quad'],
  [{ crs: 4490 }, 'CGCS2000Quad'],
  [{ crs: { type: 'name', properties: { name: 'epsg:4490' } } }, 'CGCS2000Quad'],
  [{ tile_matrix_set: 'CGCS2000Quad', crs: 'EPSG:4326' }, 'CGCS2000Quad'],
  [{ crs: '', profile: 'geodetic' }, 'WorldCRS84Quad'],
] as const)('%j lies in %s', (fields, grid) => {
  expect(readGrid(fields).grid).toBe(grid)
})

test.each(['EPSG:32650', 'EPSG:43260', 'raster', 'urn:ogc:def:crs:EPSG::2154'])('%s is not a supported grid', (crs) => {
  expect(readGrid({ crs })).toEqual({ grid: null, named: crs })
})
