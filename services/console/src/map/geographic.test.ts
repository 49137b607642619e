import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { expect, test, vi } from 'vitest'
import { GEOGRAPHIC, gridAddress, squareTemplate } from './geographic.js'
import { versionContent } from './version-content.js'

vi.stubGlobal('window', { location: { origin: 'https://maps.example' } })

const version: BasemapVersion = {
  version: 'v1',
  storage: 'xyz',
  format: 'png',
  tile_size: 256,
  min_zoom: 0,
  max_zoom: 5,
  bounds: null,
  tile_matrix_set: 'CGCS2000Quad',
  crs: 'EPSG:4490',
  revision: 3,
  available: true,
  scanned_at: '2026-01-01T00:00:00Z',
}

test('the map asks its own square, one zoom above the set, and gets the set’s tile', () => {
  const template = 'https://maps.example/tiles/2/v1/{z}/{x}/{y}.png?v=3'
  const content = versionContent('2', version, [], false)
  expect(content).toMatchObject({
    projection: 'EPSG:4326',
    sources: { version: { tiles: [squareTemplate(template)], minzoom: 1, maxzoom: 6, bounds: [-180, -90, 180, 90] } },
  })
  const asked = squareTemplate(template).replace('{z}', '4').replace('{x}', '15').replace('{y}', '7')
  expect(gridAddress(asked)).toBe('https://maps.example/tiles/2/v1/3/15/7.png?v=3')
  expect(gridAddress('https://maps.example/tiles/2/v1/4/15/7.png')).toBe('https://maps.example/tiles/2/v1/4/15/7.png')
})

test('a set in Web Mercator is drawn as it is', () => {
  const content = versionContent('2', { ...version, tile_matrix_set: 'WebMercatorQuad' }, [], true)
  expect(content).not.toHaveProperty('projection')
  expect(content.sources.version).toMatchObject({
    tiles: ['https://maps.example/tiles/2/v1/{z}/{x}/{y}.png?v=3'],
    maxzoom: 5,
  })
})

test('the plane is that of longitude and latitude, there and back', () => {
  const { forward, inverse } = GEOGRAPHIC.projection
  expect(inverse(forward([116.4, -39.9]))).toEqual([116.4, -39.9].map((degrees) => expect.closeTo(degrees, 9)))
  expect(forward([-180, 90])).toEqual(GEOGRAPHIC.tileMatrixSet.origin)
})
