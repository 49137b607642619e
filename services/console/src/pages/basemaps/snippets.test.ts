import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { expect, test } from 'vitest'
import { CLIENTS, serviceUrls, snippet, TOKEN_PLACE } from './snippets.js'

const version: BasemapVersion = {
  version: 'v1',
  storage: 'xyz',
  format: 'png',
  tile_size: 256,
  min_zoom: 2,
  max_zoom: 9,
  bounds: null,
  tile_matrix_set: 'WebMercatorQuad',
  coordinate_offset: null,
  crs: 'EPSG:3857',
  revision: 3,
  available: true,
  scanned_at: '2026-01-01T00:00:00Z',
}
const world = {
  code: "wor'ld",
  name: 'World',
  template: 'https://t.example/tiles/world/current/{z}/{x}/{y}.png',
  version,
  pinned: true,
}
const following = { ...world, pinned: false }

const BY_TEMPLATE = CLIENTS.filter((client) => client !== 'GDAL')

test.each(BY_TEMPLATE)('a pinned snippet for %s names version and revision, with a token placeholder', (client) => {
  const text = snippet(client, world)
  expect(text).toContain('https://t.example/tiles/world/v1/')
  expect(text).toContain('.png?v=3')
  expect(text).toContain(TOKEN_PLACE)
})

test.each(CLIENTS)('a snippet for %s follows the default version unless one is pinned', (client) => {
  const text = snippet(client, following)
  expect(text).not.toContain('v1')
  expect(text).not.toContain('?v=')
  expect(text).toContain(TOKEN_PLACE)
})

test('a known token replaces the placeholder in every snippet', () => {
  for (const client of CLIENTS) {
    const text = snippet(client, { ...following, token: 'bmp_secret' })
    expect(text).toContain('bmp_secret')
    expect(text).not.toContain(TOKEN_PLACE)
  }
})

test('each service of a basemap has a URL, and the archive only if the version is an archive', () => {
  const names = (described: Parameters<typeof serviceUrls>[0]) => serviceUrls(described).map(([service]) => service)
  expect(names(following)).toEqual(['xyz', 'tilejson', 'wmts', 'ogc', 'tms'])
  expect(Object.fromEntries(serviceUrls(following))).toMatchObject({
    xyz: 'https://t.example/tiles/world/current/{z}/{x}/{y}.png',
    tilejson: "https://t.example/tiles/wor'ld/current/tilejson.json",
  })
  const archive = { ...following, version: { ...version, storage: 'pmtiles' as const } }
  expect(Object.fromEntries(serviceUrls(archive)).archive).toBe("https://t.example/archives/wor'ld/current.pmtiles")
  // WMTS, OGC API and TMS serve the default version only.
  expect(names({ ...archive, pinned: true })).toEqual(['xyz', 'tilejson', 'archive'])
})

test('a quote in a code does not end a string', () => {
  expect(snippet('MapLibre', world)).toContain(`map.addSource('wor\\'ld', {`)
})

test('curl requests a tile that can exist, with the token in a header', () => {
  expect(snippet('curl', world)).toBe(
    "curl -fsS -H 'X-Access-Token: YOUR_TOKEN' -o tile.png \\\n  'https://t.example/tiles/world/v1/2/0/0.png?v=3'",
  )
})

test('MapLibre gets the TileJSON of vector tiles, which lists their layers', () => {
  const streets = {
    ...world,
    template: 'https://t/tiles/s/current/{z}/{x}/{y}.pbf',
    version: { ...version, format: 'pbf' as const },
    code: 's',
    pinned: false,
  }
  expect(snippet('MapLibre', streets)).toContain("url: 'https://t/tiles/s/current/tilejson.json?token=YOUR_TOKEN'")
})

test.each(BY_TEMPLATE)('the snippet for %s does not treat a geographic set as Web Mercator', (client) => {
  const flat = { ...world, version: { ...version, tile_matrix_set: 'WorldCRS84Quad' as const, crs: 'EPSG:4326' } }
  const expected = {
    MapLibre: 'use OpenLayers',
    Leaflet: 'L.CRS.EPSG4326',
    OpenLayers: "projection: 'EPSG:4326'",
    QGIS: "https://t.example/wmts?only=wor'ld&token=YOUR_TOKEN",
    ArcGIS: "https://t.example/wmts?only=wor'ld&token=YOUR_TOKEN",
    curl: '/tiles/world/v1/2/0/0.png?v=3',
  }
  expect(snippet(client, flat)).toContain(expected[client])
})

test('the snippets of a token that is limited to pages send its origin, or say who cannot use it', () => {
  const limited = { ...following, token: 'bmp_secret', origins: ['https://maps.example'] }
  expect(snippet('curl', limited)).toContain("-H 'Origin: https://maps.example'")
  expect(snippet('GDAL', limited)).toContain("GDAL_HTTP_HEADERS 'Origin: https://maps.example'")
  expect(snippet('QGIS', limited)).toContain('Referer: https://maps.example/')
  expect(snippet('ArcGIS', limited)).toBe('This token is only for pages of https://maps.example: ArcGIS cannot use it.')
  for (const client of ['MapLibre', 'Leaflet', 'OpenLayers'] as const) {
    expect(snippet(client, limited)).toMatch(/^\/\/ Only on pages of https:\/\/maps\.example\n/)
  }
})
