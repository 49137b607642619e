import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { expect, test } from 'vitest'
import { CLIENTS, snippet, TOKEN_PLACE } from './snippets.js'

const version: BasemapVersion = {
  version: 'v1',
  storage: 'xyz',
  format: 'png',
  tile_size: 256,
  min_zoom: 2,
  max_zoom: 9,
  bounds: null,
  tile_matrix_set: 'WebMercatorQuad',
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
}

test.each(CLIENTS)('what is pasted into %s names version and revision, and a place for the token', (client) => {
  const text = snippet(client, world)
  expect(text).toContain('https://t.example/tiles/world/v1/')
  expect(text).toContain('.png?v=3')
  expect(text).toContain(TOKEN_PLACE)
})

test('a quote in a code does not end a string', () => {
  expect(snippet('MapLibre', world)).toContain(`map.addSource('wor\\'ld', {`)
})

test('curl asks for a tile that can exist, with the token in a header', () => {
  expect(snippet('curl', world)).toBe(
    "curl -fsS -H 'X-Access-Token: YOUR_TOKEN' -o tile.png \\\n  'https://t.example/tiles/world/v1/2/0/0.png?v=3'",
  )
})

test('vector tiles are given to MapLibre by their TileJSON, which lists their layers', () => {
  const streets = {
    ...world,
    template: 'https://t/tiles/s/current/{z}/{x}/{y}.pbf',
    version: { ...version, format: 'pbf' as const },
  }
  expect(snippet('MapLibre', streets)).toContain("url: 'https://t/tiles/s/current/tilejson.json?token=YOUR_TOKEN'")
})

test.each(CLIENTS)('what is pasted into %s for a geographic set is not taken for Web Mercator', (client) => {
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
