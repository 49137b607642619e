import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-area-'))
const ZOOMS = [0, 1, 2, 3]
let running: RunningEdge
let token: string

/**
 * Bounds in the Web Mercator and the geographic grid by the textbook formulas, independent of the gateway's geometry.
 */
function degreesOf(code: string, z: number, x: number, y: number): Bounds {
  const rows = 2 ** z
  if (code === 'plate')
    return [x * (180 / rows) - 180, 90 - (y + 1) * (180 / rows), (x + 1) * (180 / rows) - 180, 90 - y * (180 / rows)]
  const latitude = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / rows))) * 180) / Math.PI
  return [(x / rows) * 360 - 180, latitude(y + 1), ((x + 1) / rows) * 360 - 180, latitude(y)]
}

function overlaps([west, south, east, north]: Bounds, area: Bounds): boolean {
  const parts =
    area[0] <= area[2]
      ? [area]
      : [
          [area[0], area[1], 180, area[3]],
          [-180, area[1], area[2], area[3]],
        ]
  const little = 1e-6
  return parts.some(
    ([w, s, e, n]) =>
      Math.min(east, e as number) - Math.max(west, w as number) > little &&
      Math.min(north, n as number) - Math.max(south, s as number) > little,
  )
}

function* places(code: string): Iterable<readonly [z: number, x: number, y: number]> {
  for (const z of ZOOMS)
    for (let x = 0; x < 2 ** z * (code === 'plate' ? 2 : 1); x++) for (let y = 0; y < 2 ** z; y++) yield [z, x, y]
}

beforeAll(async () => {
  for (const code of ['world', 'plate'])
    for (const [z, x, y] of places(code)) {
      fs.mkdirSync(path.join(home, code, `${z}/${x}`), { recursive: true })
      fs.writeFileSync(path.join(home, code, `${z}/${x}/${y}.png`), randomBytes(64))
      fs.writeFileSync(path.join(home, code, `${z}/${x}/${y}@2x.png`), randomBytes(64))
    }
  await writePmtiles(path.join(home, 'a1.pmtiles'), [{ z: 0, x: 0, y: 0, data: randomBytes(100) }], {
    bounds: [-180, -85, 180, 85],
    metadata: {},
    format: 'png',
    encoding: 'identity',
  })
  const folder = (code: string, more = {}) => storedVersion('v1', { path: path.join(home, code), maxZoom: 3, ...more })
  const archive = storedVersion('a1', { path: path.join(home, 'a1.pmtiles'), storage: 'pmtiles', maxZoom: 0 })
  const rows = [
    storedBasemap('world', [folder('world'), archive], { sourcePath: home, defaultVersion: 'v1' }),
    storedBasemap('plate', [folder('plate', { tileMatrixSet: 'WorldCRS84Quad' })], { sourcePath: home }),
    storedBasemap('europe', [folder('world', { bounds: [-10, 35, 30, 70] })], { sourcePath: home }),
    storedBasemap('america', [folder('world', { bounds: [-130, 20, -60, 60] })], { sourcePath: home }),
  ]
  fs.writeFileSync(path.join(home, 'roads.geojson'), '{"type":"FeatureCollection","features":[]}')
  const roads = storedVector('roads', { path: path.join(home, 'roads.geojson'), sourcePath: home, size: 42 })
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [roads] })
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane: 'http://[::1]:1' })
  running.edge.signed.setKeys([{ secret: randomBytes(32), expiresAt: null }])
})
afterAll(async () => {
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function tokenWithin(area: Bounds, more: Partial<typeof READER> = {}): string {
  const made = createToken()
  const limits = { origins: new Set<string>(), networks: [], rate: null, area }
  running.storedTokens.set(tokenDigest(made).toString('hex'), { ...READER, id: made, limits, ...more })
  return made
}

const ask = (address: string, init: RequestInit = { headers: { 'x-access-token': token } }) =>
  fetch(running.url + address, init)

async function statusOf(address: string, init?: RequestInit): Promise<number> {
  const answer = await ask(address, init)
  await answer.arrayBuffer()
  return answer.status
}

/** The properties of the requested documents that the tests check. */
interface Document {
  readonly bounds: Bounds
  readonly total: number
  readonly items: readonly { readonly code: string; readonly versions: readonly { readonly bounds: Bounds }[] }[]
  readonly versions: readonly [{ readonly bounds: Bounds }]
  readonly extent: { readonly spatial: { readonly bbox: readonly Bounds[] } }
  readonly collections: readonly object[]
}

/** Returns every address of a tile. */
function waysTo(code: string, z: number, x: number, y: number): string[] {
  const set = code === 'plate' ? 'WorldCRS84Quad' : 'WebMercatorQuad'
  const kvp = `/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=${code}&STYLE=default&TILEMATRIXSET=${set}&TILEMATRIX=${z}&TILEROW=${y}&TILECOL=${x}&FORMAT=image/png`
  const fromSouth = 2 ** z - 1 - y
  return [
    `/tiles/${code}/v1/${z}/${x}/${y}.png`,
    `/tiles/${code}/v1/${z}/${x}/${y}.png?v=3`,
    `/tiles/${code}/v1/${z}/${x}/${y}@2x.png`,
    `/tiles/${code}/current/${z}/${x}/${y}.png`,
    `/tiles/${code}/${z}/${x}/${y}.png`,
    `/tms/1.0.0/${code}/${z}/${x}/${fromSouth}.png`,
    `/tms/1.0.0/${code}?tile=/${z}/${x}/${fromSouth}.png`,
    `/ogc/collections/${code}/map/tiles/${set}/${z}/${y}/${x}`,
    kvp,
    kvp.toLowerCase().replace('webmercatorquad', set).replace('worldcrs84quad', set).replace('gettile', 'GetTile'),
  ]
}

test.each<Bounds>([
  [5, 45, 15, 55],
  [170, -20, -170, 20],
  [-0.001, -0.001, 0.001, 0.001],
  [10, 86, 20, 89],
])(
  'a token within %f, %f, %f, %f gets exactly the tiles that touch the area, by every address',
  async (...area) => {
    token = tokenWithin(area)
    for (const code of ['world', 'plate']) {
      for (const [z, x, y] of places(code)) {
        const expected = overlaps(degreesOf(code, z, x, y), area) ? 200 : 403
        const [tile = ''] = waysTo(code, z, x, y)
        // A token that may read everything has warmed every tier.
        await statusOf(tile, { headers: { 'x-access-token': running.token } })
        for (const way of waysTo(code, z, x, y)) {
          if (z > 2 && way !== tile) continue
          expect([await statusOf(way), way]).toEqual([expected, way])
          const forwarded = { headers: { 'x-original-uri': way, 'x-access-token': token } }
          expect([await statusOf('/api/v1/forward-auth', forwarded), way]).toEqual([expected, way])
        }
        const asUser = `Basic ${Buffer.from(`gis:${token}`).toString('base64')}`
        expect(await statusOf(`${tile}?token=${token}`, {})).toBe(expected)
        expect(await statusOf(tile, { method: 'HEAD', headers: { authorization: asUser } })).toBe(expected)
      }
    }
  },
  60_000,
)

test('tiles inside of an area are answered without JavaScript, and those outside are not', async () => {
  token = tokenWithin([170, -20, -170, 20])
  const answers = () => running.edge.native.answers
  for (const [tile, status] of [
    ['/tiles/world/v1/3/7/4.png', 200],
    ['/tiles/world/v1/3/0/3.png', 200],
    ['/tiles/world/v1/3/3/3.png', 403],
    ['/tiles/plate/v1/3/15/4.png', 200],
    ['/tiles/plate/v1/3/8/4.png', 403],
  ] as const) {
    // The first requests put the token, the set and the tile.
    for (let i = 0; i < 4; i++) expect([tile, await statusOf(tile)]).toEqual([tile, status])
    const before = answers()
    for (let i = 0; i < 4; i++) expect([tile, await statusOf(tile)]).toEqual([tile, status])
    expect([tile, answers() - before]).toEqual([tile, status === 200 ? 4 : 0])
  }
})

test('a token with an area gets no whole archives and vectors, whether or not they exist', async () => {
  token = tokenWithin([5, 45, 15, 55])
  for (const address of [
    '/archives/world/a1.pmtiles',
    '/archives/world/v9.pmtiles',
    '/vectors/roads/download',
    '/vectors/roads.geojson',
    '/vectors/nothing/download',
    '/geojson/roads.geojson',
    '/shp/roads.shp',
  ]) {
    expect([await statusOf(address), address]).toEqual([403, address])
    expect(await statusOf(address, { method: 'HEAD', headers: { 'x-access-token': token } })).toBe(403)
    const forwarded = { headers: { 'x-original-uri': address, 'x-access-token': token } }
    expect([await statusOf('/api/v1/forward-auth', forwarded), address]).toEqual([403, address])
  }
})

test('tiles of a vector are let in by where they lie, by both of their addresses and behind a proxy', async () => {
  token = tokenWithin([5, 45, 15, 55])
  for (const [z, x, y] of places('world')) {
    // An admitted tile is absent here: 404 at the edge, 200 for a proxy.
    const isInside = overlaps(degreesOf('world', z, x, y), [5, 45, 15, 55])
    const ways = [
      `/vectors/roads/tiles/${z}/${x}/${y}.mvt`,
      `/ogc/collections/roads/tiles/WebMercatorQuad/${z}/${y}/${x}`,
    ]
    for (const way of ways) {
      expect([await statusOf(way), way]).toEqual([isInside ? 404 : 403, way])
      const forwarded = { headers: { 'x-original-uri': way, 'x-access-token': token } }
      expect([await statusOf('/api/v1/forward-auth', forwarded), way]).toEqual([isInside ? 200 : 403, way])
    }
  }
})

test('the order of refusals stays: the grant is looked at before the area, and a tile that is absent inside returns 404', async () => {
  token = tokenWithin([5, 45, 15, 55], { basemaps: new Set(['world']) })
  const reason = async (address: string) => {
    const answer = await ask(address)
    return [answer.status, ((await answer.json()) as { error: string }).error]
  }
  expect(await reason('/tiles/plate/v1/0/0/0.png')).toEqual([403, expect.stringContaining('no access')])
  expect(await reason('/tiles/world/v1/3/0/0.png')).toEqual([403, expect.stringContaining('limited to an area')])
  expect(await statusOf('/tiles/world/v1/4/8/5.png')).toBe(404)
  expect(await statusOf('/tiles/world/v1/4/0/0.png')).toBe(403)
  expect(await statusOf('/tiles/world/v9/3/0/0.png')).toBe(404)
  expect(await statusOf('/tiles/world/v1/3/0/0.png', {})).toBe(401)
})

test('documents show the intersection of the areas of a token and a set, for each token', async () => {
  const json = async (address: string, who: string) =>
    (await ask(address, { headers: { 'x-access-token': who } })).json() as Promise<Document>
  const text = async (address: string, who: string) =>
    (await ask(address, { headers: { 'x-access-token': who } })).text()
  const [near, far] = [tokenWithin([5, 45, 15, 55]), tokenWithin([170, -20, -170, 20])]
  for (let round = 0; round < 3; round++) {
    expect((await json('/tiles/world/tilejson.json', near)).bounds).toEqual([5, 45, 15, 55])
    expect((await json('/tiles/world/tilejson.json', far)).bounds).toEqual([-180, -20, 180, 20])
    expect((await json('/tiles/world/tilejson.json', running.token)).bounds).not.toEqual([5, 45, 15, 55])
    expect((await json('/tiles/europe/v1/tilejson.json', near)).bounds).toEqual([5, 45, 15, 55])
    expect((await json('/tiles/europe/v1/tilejson.json', running.token)).bounds).toEqual([-10, 35, 30, 70])
    const list = await json('/api/v1/catalog/basemaps', near)
    expect(list.items.map(({ code }) => code)).toEqual(['europe', 'plate', 'world'])
    expect([list.total, list.items[0]?.versions[0]?.bounds]).toEqual([3, [5, 45, 15, 55]])
    expect((await json('/api/v1/catalog/basemaps', running.token)).total).toBe(4)
    expect((await json('/api/v1/catalog/basemaps/europe', near)).versions[0].bounds).toEqual([5, 45, 15, 55])
    const capabilities = await text('/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', near)
    expect(capabilities).toContain('<ows:LowerCorner>5 45</ows:LowerCorner>')
    expect(capabilities).not.toContain('america')
    expect(await text('/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', running.token)).toContain('america')
    const collection = await json('/ogc/collections/europe', near)
    expect(collection.extent.spatial.bbox).toEqual([[5, 45, 15, 55]])
    const { collections } = await json('/ogc/collections', near)
    expect(collections.map((one) => (one as { id: string }).id)).toEqual(['europe', 'plate', 'roads', 'world'])
    expect(await text('/tms/1.0.0/europe', near)).not.toEqual(await text('/tms/1.0.0/europe', running.token))
    expect(await text('/tms/1.0.0', near)).not.toContain('america')
  }
  for (const address of [
    '/tiles/america/tilejson.json',
    '/api/v1/catalog/basemaps/america',
    '/ogc/collections/america',
    '/ogc/collections/america/map/tiles',
    '/tms/1.0.0/america',
    '/tms/1.0.0/america/tilemapresource.xml',
  ])
    expect([await statusOf(address, { headers: { 'x-access-token': near } }), address]).toEqual([403, address])
})

test('an area that is set later applies to tiles that were answered without JavaScript', async () => {
  const tile = '/tiles/world/v1/3/0/0.png'
  const digest = tokenDigest(running.token).toString('hex')
  const before = running.storedTokens.get(digest)
  for (let i = 0; i < 4; i++) expect(await statusOf(tile, { headers: { 'x-access-token': running.token } })).toBe(200)
  const limits = { origins: new Set<string>(), networks: [], rate: null, area: [5, 45, 15, 55] as Bounds }
  running.storedTokens.set(digest, { ...READER, limits })
  running.edge.tokens.invalidate(digest)
  for (let i = 0; i < 4; i++) expect(await statusOf(tile, { headers: { 'x-access-token': running.token } })).toBe(403)
  running.storedTokens.set(digest, before as NonNullable<typeof before>)
  running.edge.tokens.invalidate(digest)
  expect(await statusOf(tile, { headers: { 'x-access-token': running.token } })).toBe(200)
})
