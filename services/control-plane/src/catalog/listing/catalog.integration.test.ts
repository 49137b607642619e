import type { IssuedToken } from '@gateway/contracts/token.js'
import { upsertBasemap, upsertVersion } from '@gateway/store/basemaps.js'
import { isReached } from '@gateway/store/catalog/canary.js'
import { insertSwitch, startCanary } from '@gateway/store/default-switches.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { upsertVectors } from '@gateway/store/vectors.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  await gateway.store.sql.begin(async (tx) => {
    for (const kind of ['basemap', 'vector'] as const) {
      await upsertScanSource(tx, { code: kind, kind, path: `/data/${kind}`, name: undefined, enabled: undefined })
    }
    for (const code of ['sea', 'world']) {
      await upsertBasemap(tx, { code, name: code, tileBaseUrl: 'http://tiles.example', sourceCode: 'basemap' })
      await upsertVersion(tx, code, VERSION)
    }
    await upsertVectors(tx, [vector('roads', 'x/roads.geojson'), vector('rivers', 'y/rivers.geojson')])
  })
})
afterAll(() => gateway.close())

const VERSION = {
  version: '1',
  storage: 'xyz',
  format: 'png',
  extension: 'png',
  tileSize: 256,
  minZoom: 0,
  maxZoom: 3,
  bounds: null,
  boundsDerived: false,
  rowsFromNorth: false,
  name: null,
  attribution: null,
  description: null,
  vectorLayers: null,
  tileMatrixSet: 'WebMercatorQuad',
  metadata: {},
  path: '/data/basemap/x/1',
  fingerprint: 'f',
} as const

const vector = (code: string, relativePath: string) => ({
  code,
  name: code,
  kind: 'geojson' as const,
  relativePath,
  fileName: relativePath.split('/').at(-1) as string,
  path: `/data/vector/${relativePath}`,
  size: 1,
  modifiedAt: new Date(0),
  fingerprint: 'f',
  sourceCode: 'vector',
  facts: null,
})

async function token(body: object): Promise<IssuedToken> {
  return (
    await gateway.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload: { name: 'reader', ...body } })
  ).json()
}

const read = (path: string, headers: Record<string, string>) =>
  gateway.app.inject({ url: `/api/v1/catalog${path}`, headers })
const codes = (answer: { json(): { items: { code: string }[] } }) => answer.json().items.map(({ code }) => code)

test('lists contain granted objects: by code, by relative path, by file name, and all for the asterisk', async () => {
  const narrow = {
    'x-access-token': (await token({ basemap_codes: ['world', 'gone'], vector_codes: ['x/roads.geojson'] })).token,
  }
  expect(codes(await read('/basemaps', narrow))).toEqual(['world'])
  expect(codes(await read('/vectors', narrow))).toEqual(['roads'])
  const byName = { 'x-access-token': (await token({ vector_codes: ['rivers.geojson'] })).token }
  expect(codes(await read('/basemaps', byName))).toEqual([])
  expect(codes(await read('/vectors', byName))).toEqual(['rivers'])
  const all = { 'x-access-token': (await token({ basemap_codes: ['*'], vector_codes: ['*'] })).token }
  expect(codes(await read('/basemaps', all))).toEqual(['sea', 'world'])
  expect((await read('/vectors', all)).json().total).toBe(2)
})

test('the order of refusal: token, scope, grant whether or not the object exists, absence', async () => {
  const status = async (path: string, headers: Record<string, string>) => (await read(path, headers)).statusCode
  const narrow = {
    authorization: `Bearer ${(await token({ basemap_codes: ['world', 'gone'], vector_codes: ['gone'] })).token}`,
  }
  const slicer = { authorization: `Bearer ${(await token({ basemap_codes: ['*'], scopes: ['slice'] })).token}` }
  const expired = { authorization: `Bearer ${(await token({ basemap_codes: ['*'], expires_at: '2020-01-01' })).token}` }
  expect(await status('/basemaps/world', {})).toBe(401)
  expect(await status('/basemaps/world', expired)).toBe(401)
  expect(await status('/basemaps/world', { authorization: `Bearer bmp_${'a'.repeat(38)}` })).toBe(401)
  expect(await status('/basemaps/world', slicer)).toBe(403)
  expect(await status('/basemaps', slicer)).toBe(403)
  expect(await status('/basemaps/sea', narrow)).toBe(403)
  expect(await status('/basemaps/never-was', narrow)).toBe(403)
  expect(await status('/basemaps/gone', narrow)).toBe(404)
  expect(await status('/basemaps/world', narrow)).toBe(200)
  expect(await status('/vectors/roads', narrow)).toBe(403)
  expect(await status('/vectors/gone', narrow)).toBe(404)
})

test('a token that a canary reaches sees the new default, and another one the old', async () => {
  const { sql } = gateway.store
  const { id = '' } = await sql.begin(async (tx) => {
    await upsertBasemap(tx, {
      code: 'tried',
      name: 'tried',
      tileBaseUrl: 'http://tiles.example',
      sourceCode: 'basemap',
    })
    for (const version of ['1', '2']) await upsertVersion(tx, 'tried', { ...VERSION, version })
    await tx`UPDATE basemaps SET default_version = '1' WHERE code = 'tried'`
    const canary = { percent: 50, minutes: 60 }
    const added = await insertSwitch(tx, {
      basemapCode: 'tried',
      version: '2',
      at: new Date(),
      actor: 'admin',
      address: '127.0.0.1',
      canary,
    })
    await startCanary(tx, added?.id ?? '', '1')
    return { id: added?.id }
  })
  const seen = new Set<string>()
  // Half of all tokens: 40 of one kind are as good as impossible.
  for (let i = 0; i < 40 && seen.size < 2; i++) {
    const reader = await token({ basemap_codes: ['tried'] })
    const wanted = isReached({ id, version: '2', percent: 50 }, reader.id) ? '2' : '1'
    const headers = { 'x-access-token': reader.token }
    expect((await read('/basemaps/tried', headers)).json().default_version).toBe(wanted)
    expect((await read('/basemaps', headers)).json().items[0].default_version).toBe(wanted)
    seen.add(wanted)
  }
  expect([...seen].sort()).toEqual(['1', '2'])
})

test('a code that nothing can have is a code like any other', async () => {
  const all = { 'x-access-token': (await token({ basemap_codes: ['*'], vector_codes: ['*'] })).token }
  for (const code of ['%00', '%2e%2e', 'a%2Fb', '%F0%9F%97%BA', 'x'.repeat(2000)]) {
    expect([code, (await read(`/basemaps/${code}`, all)).statusCode]).toEqual([code, 404])
    expect([code, (await read(`/vectors/${code}`, all)).statusCode]).toEqual([code, 404])
  }
})

test('one token may come in four ways; the same in several is accepted, different ones return 400', async () => {
  const a = (await token({ basemap_codes: ['*'] })).token
  const b = (await token({ basemap_codes: ['*'] })).token
  const status = async (query: string, headers: Record<string, string> = {}) =>
    (await read(`/basemaps${query}`, headers)).statusCode
  expect(await status('', { authorization: `Bearer ${a}` })).toBe(200)
  expect(await status('', { 'x-access-token': a })).toBe(200)
  expect(await status(`?token=${a}`)).toBe(200)
  expect(await status(`?access_token=${a}&token=${a}`, { authorization: `Bearer ${a}`, 'x-access-token': a })).toBe(200)
  expect(await status(`?token=${a}`, { authorization: 'Basic eDp5' })).toBe(200)
  expect(await status(`?token=${a}`, { 'x-access-token': b })).toBe(400)
  expect(await status(`?token=${a}&token=${b}`)).toBe(400)
})

test('a disabled token is refused, and pages of any origin may read the reason', async () => {
  const { id, token: plaintext } = await token({ basemap_codes: ['*'] })
  await gateway.admin({ method: 'POST', url: `/api/v1/admin/tokens/${id}/disable` })
  const answer = await read('/basemaps', { 'x-access-token': plaintext, origin: 'https://map.example' })
  expect(answer.statusCode).toBe(401)
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
    'www-authenticate': expect.stringMatching(/^Bearer/),
  })
})

test.each([
  ['GET, HEAD, OPTIONS', '/api/v1/catalog/basemaps/world'],
  ['POST, OPTIONS', '/api/v1/catalog/signed-urls'],
])('a preflight is answered without a token, and allows %s of %s', async (methods, url) => {
  const answer = await gateway.app.inject({
    method: 'OPTIONS',
    url,
    headers: { origin: 'https://map.example', 'access-control-request-method': methods.split(',')[0] },
  })
  expect(answer.statusCode).toBe(204)
  expect([answer.headers['access-control-allow-methods'], answer.headers.allow]).toEqual([methods, methods])
  expect(answer.headers['access-control-allow-headers']).toMatch(/Authorization.*X-Access-Token/)
})

test('the last use of a token is stored when the application closes at the latest', async () => {
  const other = await startTestApp(process.env.TEST_POSTGRES_URL)
  const issued = (await other.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload: { name: 'used' } })).json()
  await other.app.inject({ url: '/api/v1/catalog/basemaps', headers: { 'x-access-token': issued.token } })
  await other.app.close()
  const [row] = await other.store.sql`SELECT last_used_at, last_used_from FROM tokens WHERE id = ${issued.id}`
  expect(row).toEqual({ last_used_at: expect.any(Date), last_used_from: '127.0.0.1' })
  await other.close()
})
