import { randomBytes } from 'node:crypto'
import os from 'node:os'
import { signatureQuery, signResource } from '@gateway/core/access/signed-url.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { RawClient } from '../testing/raw-client.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const SECRET = randomBytes(32)
const TOKENS = { world: createToken(), slice: createToken(), disabled: createToken(), unknown: createToken() }
const TILE = '/tiles/world/v1/0/0/0.png'
let running: RunningEdge
let client: RawClient

beforeAll(async () => {
  const catalog = nextCatalog(
    EMPTY_CATALOG,
    { codes: null, rows: ['world', 'other'].map((code) => storedBasemap(code, [storedVersion('v1')])) },
    { codes: null, rows: [storedVector('roads'), storedVector('other')] },
  )
  const port = await freePort()
  running = await runEdge({ port, catalog, dataDir: os.tmpdir(), controlPlane: 'http://[::1]:1' })
  running.edge.signed.setKeys([{ secret: SECRET, expiresAt: null }])
  const granted = { ...READER, basemaps: new Set(['world']), vectors: new Set(['roads', 'a/b.geojson']) }
  const store = (token: string, more: object) =>
    running.storedTokens.set(tokenDigest(token).toString('hex'), { ...granted, ...more })
  store(TOKENS.world, {})
  store(TOKENS.slice, { scopes: new Set(['slice']) })
  store(TOKENS.disabled, { disabled: true })
  client = new RawClient(port)
})
afterAll(async () => {
  client.close()
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
})

type Header = readonly [name: string, value: string]

const asked = (...headers: Header[]) => askedBelow('', ...headers)

async function askedBelow(address: string, ...headers: Header[]): Promise<number> {
  const target = `/api/v1/forward-auth${address}`
  return (await client.ask({ method: 'GET', target, headers: [['Host', 'x'], ...headers] })).status
}

const withToken = (address: string, token: string = TOKENS.world) =>
  asked(['X-Original-URI', address], ['X-Access-Token', token])

const VIEW = 'VERSION=1.3.0&STYLES=&CRS=CRS:84&BBOX=0,0,1,1&WIDTH=9&HEIGHT=9&FORMAT=image/png'

test.each<[number, string]>([
  [200, TILE],
  [200, `${TILE}?v=3`],
  [200, '/tiles/world/tilejson.json'],
  [200, '/tiles/world/v9/0/0/0.png'],
  [200, '/archives/world/v1.pmtiles'],
  [200, '/vectors/roads/download'],
  [200, '/vectors/roads.geojson'],
  [200, '/geojson/a/b.geojson'],
  [200, '/wmts?service=WMTS&request=GetCapabilities'],
  [200, '/ogc/collections/world/map/tiles'],
  [200, '/tms/1.0.0/'],
  [200, '/api/v1/catalog/basemaps'],
  [403, '/tiles/other/v1/0/0/0.png'],
  [403, '/archives/other/v1.pmtiles'],
  [403, '/vectors/other/download'],
  [403, '/geojson/other.geojson'],
  [
    403,
    '/wmts?SERVICE=WMTS&REQUEST=GetTile&layer=other&style=default&tilematrixset=WebMercatorQuad&tilematrix=0&tilerow=0&tilecol=0&format=image/png',
  ],
  [200, '/wms'],
  [200, `/wms?REQUEST=GetMap&LAYERS=world&${VIEW}`],
  [403, `/wms?REQUEST=GetMap&LAYERS=world,other&${VIEW}`],
  [403, '/tms/1.0.0/other/0/0/0.png'],
  [403, '/ogc/collections/other'],
  [403, '/api/v1/catalog/basemaps/other'],
  [403, '/api/v1/admin/tokens'],
  [403, '/'],
])('%i for %s', async (status, address) => {
  expect(await withToken(address)).toBe(status)
})

test('a token is accepted wherever the edge accepts it, including the address, and refused as the edge refuses it', async () => {
  const uri: Header = ['X-Original-URI', TILE]
  expect(await asked(uri)).toBe(401)
  expect(await asked(uri, ['Authorization', `Bearer ${TOKENS.world}`])).toBe(200)
  expect(await asked(['X-Forwarded-Uri', `${TILE}?v=1&token=${TOKENS.world}`])).toBe(200)
  expect(await withToken(TILE, TOKENS.unknown)).toBe(401)
  expect(await withToken(TILE, TOKENS.disabled)).toBe(401)
  expect(await withToken(TILE, TOKENS.slice)).toBe(403)
  // The edge returns 400, which no proxy passes on.
  expect(await withToken(`${TILE}?token=${TOKENS.slice}`)).toBe(401)
})

test('a signed URL is admitted for the resource that it was signed for', async () => {
  const resource = { code: 'world', version: null, bounds: null }
  const query = signatureQuery(signResource(SECRET, resource, 4_000_000_000))
  expect(await asked(['X-Original-URI', `${TILE}?${query}`])).toBe(200)
  expect(await asked(['X-Original-URI', `/tiles/other/v1/0/0/0.png?${query}`])).toBe(401)
  expect(await asked(['X-Original-URI', `/vectors/roads/download?${query}`])).toBe(401)
})

test.each([
  '/tiles/world/../other/v1/0/0/0.png',
  '/tiles/world/%2e%2e/other/0/0/0.png',
  '/tiles/world/..%2fother/0/0/0.png',
  '/tiles/world%2fv1/0/0/0.png',
  '/tiles/world/./0/0/0.png',
  '/tiles//world/0/0/0.png',
  '/tiles/world\\v1/0/0/0.png',
  '/tiles/world/%zz/0/0/0.png',
])('%s may mean something else to a proxy, and is never admitted', async (address) => {
  expect(await withToken(address, running.token)).toBe(403)
})

test('an address that is missing, or given twice with different values, is refused', async () => {
  const token: Header = ['X-Access-Token', TOKENS.world]
  expect(await asked(token)).toBe(400)
  expect(await asked(token, ['X-Original-URI', 'tiles/world'])).toBe(400)
  expect(await asked(token, ['X-Original-URI', TILE], ['X-Forwarded-Uri', '/tiles/other/v1/0/0/0.png'])).toBe(400)
  expect(await asked(token, ['X-Original-URI', TILE], ['X-Original-URI', '/tiles/other/v1/0/0/0.png'])).toBe(400)
  expect(await asked(token, ['X-Original-URI', TILE], ['X-Forwarded-Uri', TILE])).toBe(200)
})

test('an address after the path of this route, as sent by Envoy, gets the same decision', async () => {
  const token: Header = ['X-Access-Token', TOKENS.world]
  expect(await askedBelow(TILE)).toBe(401)
  expect(await askedBelow(TILE, token)).toBe(200)
  expect(await askedBelow(`${TILE}?v=1&token=${TOKENS.world}`)).toBe(200)
  expect(await askedBelow(`${TILE}?token=${TOKENS.disabled}`)).toBe(401)
  for (const other of ['/tiles/other/v1/0/0/0.png', '/tiles/world/../other/v1/0/0/0.png', '/', '/api/v1/admin/tokens'])
    expect([other, await askedBelow(other, token)]).toEqual([other, 403])
  expect(await askedBelow(TILE, token, ['X-Original-URI', '/tiles/other/v1/0/0/0.png'])).toBe(400)
})
