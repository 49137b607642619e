import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { expect, test, vi } from 'vitest'
import { GEOGRAPHIC, gridAddress, squareTemplate } from './geographic.js'
import { versionContent, withOverlay } from './version-content.js'

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
  coordinate_offset: null,
  crs: 'EPSG:4490',
  revision: 3,
  available: true,
  scanned_at: '2026-01-01T00:00:00Z',
}

test('the map requests its own square, one zoom above the set, and gets the tile of the set', () => {
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

test('areas are drawn where a geographic set shows the place, and in place over a Web Mercator set', () => {
  const points = [90, 67.5, 0, -22.5, -90].map((lat) => [10, lat])
  const overlay = {
    sources: {
      cells: {
        type: 'geojson' as const,
        data: {
          type: 'FeatureCollection' as const,
          features: [
            { type: 'Feature' as const, properties: {}, geometry: { type: 'Polygon' as const, coordinates: [points] } },
          ],
        },
      },
    },
    layers: [],
  }
  const ringOver = (grid: 'CGCS2000Quad' | 'WebMercatorQuad') => {
    const { cells } = withOverlay(
      versionContent('2', { ...version, tile_matrix_set: grid }, [], false),
      overlay,
    ).sources
    return (cells as typeof overlay.sources.cells).data.features[0]?.geometry.coordinates[0] ?? []
  }
  // Measured from the upper edge of the library's square, whose upper half is the world.
  const share = (latitude: number) => 0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI)
  const drawn = ringOver('CGCS2000Quad')
  expect(drawn.map(([, lat = 0]) => share(lat))).toEqual(
    [0, 1 / 16, 1 / 4, 5 / 16, 1 / 2].map((one) => expect.closeTo(one, 9)),
  )
  expect(ringOver('WebMercatorQuad')).toEqual(points)
})

test('a set in Web Mercator is drawn unchanged', () => {
  const content = versionContent('2', { ...version, tile_matrix_set: 'WebMercatorQuad' }, [], true)
  expect(content).not.toHaveProperty('projection')
  expect(content.sources.version).toMatchObject({
    tiles: ['https://maps.example/tiles/2/v1/{z}/{x}/{y}.png?v=3'],
    maxzoom: 5,
  })
})

test('the plane maps longitude and latitude in both directions', () => {
  const { forward, inverse } = GEOGRAPHIC.projection
  expect(inverse(forward([116.4, -39.9]))).toEqual([116.4, -39.9].map((degrees) => expect.closeTo(degrees, 9)))
  expect(forward([-180, 90])).toEqual(GEOGRAPHIC.tileMatrixSet.origin)
})

test('a set with flipped rows is requested by its own rows, in both planes', () => {
  const mercator = { ...version, tile_matrix_set: 'WebMercatorQuad' as const, format: 'pbf' as const }
  const asked = (of: BasemapVersion) => {
    const content = versionContent('2', of, [], false, { format: 'png', flipped: true })
    const [template = ''] = (content.sources.version as { tiles: string[] }).tiles
    return gridAddress(template.replace('{z}', '4').replace('{x}', '15').replace('{y}', '7'))
  }
  expect(asked(mercator)).toBe('https://maps.example/tiles/2/v1/4/15/8.png?v=3')
  expect(asked(version)).toBe('https://maps.example/tiles/2/v1/3/15/0.png?v=3')
})
