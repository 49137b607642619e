import { randomUUID } from 'node:crypto'
import { addUsage } from '@gateway/store/usage.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

const NOW = Date.UTC(2026, 2, 10, 12, 30)
const TODAY = Date.UTC(2026, 2, 10)

let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, {}, undefined, () => NOW)
  const { sql } = gateway.store
  await sql`INSERT INTO scan_sources (code, name, kind, path) VALUES ('maps', 'Maps', 'basemap', '/maps')`
  await sql`INSERT INTO basemaps (code, name, tile_base_url, source_code) VALUES ('alps', 'Alps', 'http://x', 'maps')`
  await sql`INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, path, fingerprint, tile_matrix_set)
    VALUES ('alps', 'v1', 'xyz', 'png', 'png', 256, 0, 9, '/maps', 'x', 'WebMercatorQuad'), ('alps', 'flat', 'xyz', 'png', 'png', 256, 0, 9, '/maps', 'x', 'WorldCRS84Quad')`
  const cell = (id: string, requests: number, missing: number, at = TODAY) =>
    ({ kind: 'cell', id, at, requests, tiles: 0, tile_404: missing, refused: 0, bytes: 0 }) as const
  await addUsage(sql, randomUUID(), 1, [
    cell('alps/v1/1/1/0', 5, 0),
    cell('alps/flat/1/3/0', 4, 4),
    cell('alps/flat/1/3/1', 2, 1, TODAY - 8 * 86_400_000),
  ])
})
afterAll(() => gateway.close())

const ask = (query: string) => gateway.admin({ url: `/api/v1/admin/usage/cells?${query}` })

test('the cells of a week are GeoJSON in the grid of their version, the largest first', async () => {
  const answer = (await ask('basemap=alps')).json()
  expect(answer).toMatchObject({ type: 'FeatureCollection', total: 2, requests: 9 })
  expect(answer.features[0]).toEqual({
    type: 'Feature',
    properties: { tile_matrix_set: 'WebMercatorQuad', z: 1, x: 1, y: 0, requests: 5, tile_404: 0 },
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [180, 0],
          [180, 85.0511288],
          [0, 85.0511288],
          [0, 0],
        ],
      ],
    },
  })
  expect(answer.features[1].geometry.coordinates[0].slice(0, 3)).toEqual([
    [90, 0],
    [180, 0],
    [180, 90],
  ])
})

test.each([
  ['kind=misses', 1, 4],
  ['kind=misses&from=2026-03-01T15:00:00Z', 2, 5],
  ['from=2026-03-01&to=2026-03-10', 1, 2],
  ['version=v1', 1, 5],
  ['version=none', 0, 0],
])('omitted, missed, and other times or versions are not in it: %s', async (query, total, requests) => {
  expect((await ask(`basemap=alps&${query}`)).json()).toMatchObject({ total, requests })
})

test.each([
  ['', 'query.basemap'],
  ['basemap=alps&from=2026-03-11&to=2026-03-11', 'query.from: must be before query.to'],
  ['basemap=alps&to=0001-01-01', 'query.from: must be before query.to'],
  ['basemap=alps&kind=hits', 'query.kind'],
  ['basemap=alps&limit=10001', 'query.limit'],
])('an invalid query is refused with a reason: %s', async (query, words) => {
  const answer = await ask(query)
  expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining(words)])
})
