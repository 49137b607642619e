import { expect, test } from 'vitest'
import { useMaps, useToken } from './maps.js'

const maps = useMaps()
const token = useToken(maps)

const json = async (path: string, as = token()) =>
  (await fetch(maps().gateway.url + path, { headers: { 'X-Access-Token': as } })).json() as Promise<
    Record<string, unknown>
  >

test('a basemap detail has its fields, versions and a usable URL, but no path of the machine', async () => {
  const basemap = await json('/api/v1/catalog/basemaps/world')
  expect(basemap).toMatchObject({
    code: 'world',
    name: expect.any(String),
    default_version: '2026-10',
    url_template: `${maps().gateway.url}/tiles/world/current/{z}/{x}/{y}.png`,
    source_code: expect.any(String),
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  })
  expect(basemap.versions).toContainEqual(
    expect.objectContaining({
      version: '2026-2',
      storage: 'xyz',
      format: 'png',
      tile_size: 256,
      min_zoom: 0,
      max_zoom: 2,
      available: true,
      scanned_at: expect.stringMatching(/Z$/),
    }),
  )
  expect(JSON.stringify(basemap)).not.toContain(maps().basemapRoot)
})

test('a vector detail has its fields and a download URL', async () => {
  expect(await json('/api/v1/catalog/vectors/regions-countries')).toMatchObject({
    code: 'regions-countries',
    kind: 'geojson',
    relative_path: 'regions/countries.geojson',
    file_name: 'countries.geojson',
    size: expect.any(Number),
    modified_at: expect.stringMatching(/Z$/),
    available: true,
    download_url: `${maps().gateway.url}/vectors/regions-countries/download`,
  })
})

test('lists show only objects that the token may read', async () => {
  const narrow = await maps().gateway.issueToken({
    name: 'narrow',
    basemap_codes: ['world'],
    vector_codes: ['rivers.shp'],
  })
  const basemaps = (await json('/api/v1/catalog/basemaps', narrow.token)) as {
    items: { code: string }[]
    total: number
  }
  expect(basemaps).toMatchObject({ total: 1, items: [{ code: 'world' }] })
  const vectors = (await json('/api/v1/catalog/vectors', narrow.token)) as { items: { code: string }[]; total: number }
  expect(vectors).toMatchObject({ total: 1, items: [{ code: 'regions-rivers' }] })
  const all = (await json('/api/v1/catalog/basemaps')) as { total: number }
  expect(all.total).toBeGreaterThanOrEqual(5)
})

test('admin lists add the path', async () => {
  const basemaps = await maps().gateway.admin.expect<{ items: { versions: { path: string }[] }[] }>('/basemaps')
  expect(basemaps.items[0]?.versions[0]?.path).toContain('/')
  const vectors = await maps().gateway.admin.expect<{ items: { path: string }[] }>('/vectors')
  expect(vectors.items[0]?.path).toContain('/')
})

test('the health check counts versions and vectors', async () => {
  const answer = await maps().gateway.admin.call('/health/check', { method: 'POST' })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    checked_at: expect.stringMatching(/Z$/),
    versions_checked: expect.any(Number),
    versions_missing: 0,
    vectors_checked: expect.any(Number),
    vectors_missing: 0,
  })
})

test('the dashboard returns everything in one request', async () => {
  const answer = await maps().gateway.admin.call('/dashboard')
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({
    ledger: expect.any(Object),
    tokens: expect.anything(),
    pushes: expect.anything(),
  })
})
