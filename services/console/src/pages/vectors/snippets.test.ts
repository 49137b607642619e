import type { AdminVector } from '@gateway/contracts/vector.js'
import { expect, test } from 'vitest'
import { VECTOR_CLIENTS, vectorSnippet, vectorUrls } from './snippets.js'

const tiles = {
  status: 'ready',
  message: '',
  min_zoom: 0,
  max_zoom: 12,
  built_at: '2026-11-25T00:00:00Z',
  left_out: {},
}
const base = 'https://maps.example'
const vector = { code: "o'neill", download_url: `${base}/vectors/o'neill/download`, tiles } as unknown as AdminVector
const untiled = { ...vector, tiles: { ...tiles, status: 'none', built_at: null } } as AdminVector

test('each service has an URL, and those of tiles are left out if the vector has no tiles', () => {
  expect(Object.fromEntries(vectorUrls(vector))).toMatchObject({
    tilejson: `${base}/vectors/o'neill/tilejson.json`,
    tiles: `${base}/vectors/o'neill/tiles/{z}/{x}/{y}.mvt`,
    items: `${base}/ogc/collections/o'neill/items`,
    ogc: `${base}/ogc`,
  })
  expect(vectorUrls(untiled).map(([service]) => service)).toEqual([
    ...['download', 'geojson', 'gpkg', 'fgb', 'zip', 'csv'],
    ...['items', 'ogc'],
  ])
})

test('what is pasted into MapLibre and OpenLayers is JavaScript, whatever the code and the layers are called', () => {
  for (const client of ['MapLibre', 'OpenLayers'] as const)
    for (const one of [vector, untiled]) expect(() => new Function(vectorSnippet(client, one, ["a'b\\"]))).not.toThrow()
  expect(vectorSnippet('MapLibre', vector, ['roads'])).toContain(`'source-layer': 'roads'`)
})

test('a client that reads tiles gets their zooms, and one that reads features the service', () => {
  expect(vectorSnippet('QGIS', vector, [])).toContain('Max. zoom: 12')
  expect(vectorSnippet('QGIS', untiled, [])).not.toContain('Vector Tile')
  expect(vectorSnippet('GDAL', vector, [])).toMatch(/OAPIF:[\s\S]*MVT:/)
  for (const client of VECTOR_CLIENTS) expect(vectorSnippet(client, vector, [])).toContain('YOUR_TOKEN')
})
