import { expect, test } from 'vitest'
import { metric, useMaps } from './maps.js'

const maps = useMaps()
const TILE = '/tiles/world/2026-2/0/0/0.png'

const get = (path: string, headers: Record<string, string> = {}) => fetch(maps().gateway.url + path, { headers })

test.each([
  ['Authorization: Bearer', (token: string) => ({ path: TILE, headers: { Authorization: `Bearer ${token}` } })],
  ['X-Access-Token', (token: string) => ({ path: TILE, headers: { 'X-Access-Token': token } })],
  ['?token=', (token: string) => ({ path: `${TILE}?token=${token}`, headers: {} })],
  ['?access_token=', (token: string) => ({ path: `${TILE}?access_token=${token}`, headers: {} })],
  [
    'all four at once',
    (token: string) => ({
      path: `${TILE}?access_token=${token}&token=${token}`,
      headers: { Authorization: `Bearer ${token}`, 'X-Access-Token': token },
    }),
  ],
  [
    "X-Access-Token beside a browser's Basic",
    (token: string) => ({ path: TILE, headers: { Authorization: 'Basic YTpi', 'X-Access-Token': token } }),
  ],
])('a token delivered by %s reads a tile and the catalog', async (_, deliver) => {
  const { token } = await maps().gateway.issueToken({ name: 'ways', basemap_codes: ['world'] })
  const { path, headers } = deliver(token)
  expect((await get(path, headers)).status).toBe(200)
  expect((await get(path.replace(TILE, '/api/v1/catalog/basemaps'), headers)).status).toBe(200)
})

test('different tokens in one request return 400', async () => {
  const a = await maps().gateway.issueToken({ name: 'a', basemap_codes: ['world'] })
  const b = await maps().gateway.issueToken({ name: 'b', basemap_codes: ['world'] })
  for (const path of [TILE, '/api/v1/catalog/basemaps']) {
    const answer = await get(`${path}?token=${a.token}`, { 'X-Access-Token': b.token })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ error: expect.any(String) })
  }
})

test('no usable token returns 401 with WWW-Authenticate, before anything else is revealed', async () => {
  const { token } = await maps().gateway.issueToken({ name: 'typo', basemap_codes: ['*'] })
  const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
  for (const path of [
    TILE,
    '/tiles/nowhere/0/0/0.png',
    '/vectors/none/download',
    '/api/v1/catalog/basemaps',
    '/geojson/x',
  ]) {
    for (const headers of [
      {},
      { 'X-Access-Token': mistyped },
      { Authorization: 'Bearer nonsense' },
      { Authorization: 'Basic YTpi' },
    ]) {
      const answer = await get(path, headers as Record<string, string>)
      expect([path, answer.status]).toEqual([path, 401])
      expect(answer.headers.get('www-authenticate')).toMatch(/Bearer/)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await answer.json()).toEqual({ error: expect.any(String) })
    }
  }
})

test('a missing scope returns 403 before grants are checked', async () => {
  const { token } = await maps().gateway.issueToken({
    name: 'slicer',
    scopes: ['slice'],
    basemap_codes: ['*'],
    vector_codes: ['*'],
  })
  for (const path of [TILE, '/tiles/nowhere/0/0/0.png', '/vectors/countries/download', '/api/v1/catalog/basemaps']) {
    expect([path, (await get(path, { 'X-Access-Token': token })).status]).toEqual([path, 403])
  }
})

test('a resource that is not granted returns 403 whether or not it exists; granted but missing returns 404', async () => {
  const { token } = await maps().gateway.issueToken({
    name: 'narrow',
    basemap_codes: ['world', 'ghost'],
    vector_codes: ['ghost', 'gone.geojson'],
  })
  const status = async (path: string) => (await get(path, { 'X-Access-Token': token })).status
  expect(await status('/tiles/archive/0/0/0.png')).toBe(403)
  expect(await status('/tiles/nowhere/0/0/0.png')).toBe(403)
  expect(await status('/tiles/ghost/0/0/0.png')).toBe(404)
  expect(await status('/tiles/world/no-such-version/0/0/0.png')).toBe(404)
  expect(await status('/api/v1/catalog/basemaps/archive')).toBe(403)
  expect(await status('/api/v1/catalog/basemaps/nowhere')).toBe(403)
  expect(await status('/api/v1/catalog/basemaps/ghost')).toBe(404)
  expect(await status('/vectors/countries/download')).toBe(403)
  expect(await status('/vectors/nowhere/download')).toBe(403)
  expect(await status('/vectors/ghost/download')).toBe(404)
  expect(await status('/geojson/some/gone.geojson')).toBe(404)
  expect(await status('/geojson/regions/countries.geojson')).toBe(403)
  expect(await status('/api/v1/catalog/vectors/nowhere')).toBe(403)
})

test('an empty list grants nothing, a star everything', async () => {
  const none = await maps().gateway.issueToken({ name: 'none' })
  const all = await maps().gateway.issueToken({ name: 'all', basemap_codes: ['*'], vector_codes: ['*'] })
  expect((await get(TILE, { 'X-Access-Token': none.token })).status).toBe(403)
  expect((await get(TILE, { 'X-Access-Token': all.token })).status).toBe(200)
  expect((await get('/tiles/nowhere/0/0/0.png', { 'X-Access-Token': all.token })).status).toBe(404)
})

test('refusals and missing tiles are counted in /metrics', async () => {
  const { token } = await maps().gateway.issueToken({ name: 'counted', basemap_codes: ['world'] })
  const before = await metrics()
  await get(TILE)
  await get(TILE, { 'X-Access-Token': 'nonsense' })
  await get('/tiles/archive/0/0/0.png', { 'X-Access-Token': token })
  await get('/tiles/world/2026-2/5/1/1.png', { 'X-Access-Token': token })
  await get(TILE, { 'X-Access-Token': token })
  const after = await metrics()
  const grown = (name: string) => metric(after, name) - metric(before, name)
  expect(grown('gateway_auth_failures_total')).toBeGreaterThanOrEqual(2)
  expect(grown('gateway_tile_404_total')).toBe(1)
  expect(grown('gateway_tiles_total')).toBeGreaterThanOrEqual(1)
  expect(grown('gateway_requests_total')).toBeGreaterThanOrEqual(5)
})

test('refusals by the control plane are counted on the same /metrics page too', async () => {
  const before = await metrics()
  await get('/api/v1/catalog/basemaps')
  await get('/api/v1/admin/tokens')
  await get('/api/v1/admin/tokens', { Authorization: 'Bearer wrong' })
  const answer = await get('/api/v1/slice/jobs/1', { 'X-Access-Token': 'nonsense' })
  const after = await metrics()
  for (const reason of ['token_missing', 'token_malformed', 'admin_credentials_missing', 'admin_credentials_wrong']) {
    const name = `gateway_auth_failures_total{reason="${reason}"}`
    expect(metric(after, name) - metric(before, name), reason).toBe(1)
  }
  expect(answer.headers.get('x-refusal')).toBeNull()
})

async function metrics(): Promise<string> {
  return (await get('/metrics')).text()
}
