import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type SignedResource, signatureQuery, signResource } from '@gateway/core/access/signed-url.js'
import { createToken } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { RawClient } from '../testing/raw-client.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-signed-'))
const [SECRET, OTHER] = [randomBytes(32), randomBytes(32)]
const LATER = 4_000_000_000
let running: RunningEdge

const catalogOf = (more: Parameters<typeof storedBasemap>[2] = {}) => {
  const version = (label: string) => storedVersion(label, { path: path.join(home, label), maxZoom: 1 })
  const archive = storedVersion('a1', { path: path.join(home, 'a1.pmtiles'), storage: 'pmtiles', maxZoom: 0 })
  const rows = [
    storedBasemap('world', [version('v1'), version('2'), archive], { sourcePath: home, defaultVersion: 'v1', ...more }),
    storedBasemap('other', [version('v1')], { sourcePath: home }),
  ]
  return nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
}

beforeAll(async () => {
  for (const version of ['v1', '2'])
    for (const place of ['0/0/0', '1/0/0', '1/1/0', '1/1/1', '2/1/1']) {
      fs.mkdirSync(path.join(home, version, path.dirname(place)), { recursive: true })
      fs.writeFileSync(path.join(home, version, `${place}.png`), randomBytes(3_000))
    }
  const tile = { z: 0, x: 0, y: 0, data: randomBytes(100) }
  await writePmtiles(path.join(home, 'a1.pmtiles'), [tile], {
    bounds: [-180, -85, 180, 85],
    metadata: {},
    format: 'png',
    encoding: 'identity',
  })
  const options = { catalog: catalogOf(), dataDir: home, controlPlane: 'http://[::1]:1' }
  running = await runEdge({ port: await freePort(), env: { MISSING_TILE_TTL: '60' }, ...options })
  running.edge.signed.setKeys([{ secret: SECRET, expiresAt: null }])
})
afterAll(async () => {
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function sign(more: Partial<SignedResource> = {}, expiresAt = LATER, secret = SECRET): string {
  return signatureQuery(signResource(secret, { code: 'world', version: null, bounds: null, ...more }, expiresAt))
}

const ask = (address: string, headers: Record<string, string> = {}) => fetch(running.url + address, { headers })

/** Asks often enough that the native table answers if it may. */
async function statusOf(address: string, headers: Record<string, string> = {}): Promise<number> {
  const statuses = new Set<number>()
  for (let i = 0; i < 4; i++) {
    const answer = await ask(address, headers)
    await answer.arrayBuffer()
    statuses.add(answer.status)
  }
  expect(statuses.size, address).toBe(1)
  return [...statuses][0] as number
}

test('a signed URL opens only tiles, TileJSON and archives', async () => {
  const query = `?v=1&${sign()}`
  for (const address of ['/tiles/world/v1/0/0/0.png', '/tiles/world/0/0/0.png', '/tiles/world/current/1/1/1.png'])
    expect(await statusOf(address + query), address).toBe(200)
  for (const address of ['/tiles/world/tilejson.json', '/archives/world/a1.pmtiles'])
    expect(await statusOf(address + query), address).toBe(200)
  for (const address of ['/wmts', '/tms/1.0.0/world', '/ogc/collections', '/vectors/world/download'])
    expect(await statusOf(address + query), address).toBe(401)
  for (const address of ['/tiles/other/v1/0/0/0.png', '/tiles/other/tilejson.json', '/archives/other/v1.pmtiles'])
    expect(await statusOf(address + query), address).toBe(401)
})

test('the signature of a version opens only that version, even if its label could be a zoom', async () => {
  for (const [version, other] of [
    ['v1', '2'],
    ['2', 'v1'],
  ] as const) {
    const query = `?${sign({ version })}`
    expect(await statusOf(`/tiles/world/${version}/0/0/0.png${query}`)).toBe(200)
    expect(await statusOf(`/tiles/world/${version}/tilejson.json${query}`)).toBe(200)
    for (const address of [
      `/tiles/world/${other}/0/0/0.png`,
      '/tiles/world/current/0/0/0.png',
      '/tiles/world/2/1/1.png',
    ])
      expect(await statusOf(address + query), address).toBe(401)
  }
})

test('the refusals have a fixed order, and a token takes precedence over a signature', async () => {
  const tile = '/tiles/world/v1/0/0/0.png'
  const outside = sign({ bounds: [10, 10, 20, 20] })
  expect(await statusOf(`${tile}?${sign({}, LATER, OTHER)}`)).toBe(401)
  expect(await statusOf(`${tile}?${sign({}, 1)}`)).toBe(401)
  expect(await statusOf(`/tiles/world/v1/1/0/0.png?${outside}`)).toBe(403)
  expect(await statusOf(`/tiles/world/v1/1/1/0.png?${outside}`)).toBe(200)
  expect(await statusOf(`/archives/world/a1.pmtiles?${outside}`)).toBe(403)
  expect(await statusOf(`/tiles/world/v9/0/0/0.png?${sign()}`)).toBe(404)
  expect(await statusOf(`/tiles/world/v9/0/0/0.png?${sign({ code: 'nobody' })}`)).toBe(401)
  expect(await statusOf(`/tiles/nobody/v9/0/0/0.png?${sign({ code: 'nobody' })}`)).toBe(404)
  expect(await statusOf(`${tile}?${sign({}, 1)}`, { 'x-access-token': running.token })).toBe(200)
  expect(await statusOf(`${tile}?${sign()}`, { 'x-access-token': createToken() })).toBe(401)
})

test('an address expires in its second and with its key, even if it was answered without JavaScript', async () => {
  const tile = '/tiles/world/v1/0/0/0.png'
  const second = Math.ceil(Date.now() / 1000) + 1
  const query = sign({}, second)
  const seen: [at: number, status: number][] = []
  while (Date.now() < second * 1000 + 100) {
    const before = Date.now()
    const { status } = await ask(`${tile}?${query}`)
    seen.push([status === 200 ? before : Date.now(), status])
  }
  expect(seen.filter(([at, status]) => status !== (at < second * 1000 ? 200 : 401))).toEqual([])
  expect(new Set(seen.map(([, status]) => status))).toEqual(new Set([200, 401]))

  const addresses = [sign({}, LATER), sign({}, LATER, OTHER)].map((one) => `${tile}?${one}`)
  const statuses = () => Promise.all(addresses.map((address) => statusOf(address)))
  expect(await statuses()).toEqual([200, 401])
  running.edge.signed.setKeys([
    { secret: OTHER, expiresAt: null },
    { secret: SECRET, expiresAt: new Date(LATER * 1000) },
  ])
  expect(await statuses()).toEqual([200, 200])
  running.edge.signed.setKeys([{ secret: OTHER, expiresAt: null }])
  expect(await statuses()).toEqual([401, 200])
  running.edge.signed.setKeys([{ secret: SECRET, expiresAt: null }])
})

test('TileJSON of a signed URL names signed URLs, and its bounds', async () => {
  const query = sign({ bounds: [10, 10, 20, 20.5] })
  const document = (await (await ask(`/tiles/world/tilejson.json?${query}`)).json()) as Record<string, unknown>
  expect(document).toMatchObject({ bounds: [10, 10, 20, 20.5], tiles: [expect.stringMatching(/\/v1\/.*\.png\?v=1&/)] })
  expect((document.tiles as [string])[0]).toContain(`&${query}`)
})

test('tiles have the tags by which caches purge them, and a missing tile within its set may be cached', async () => {
  const headers = { 'x-access-token': running.token }
  const tags = { 'cache-tag': 'b-world,v-world-v1', 'surrogate-key': 'b-world v-world-v1' }
  const fieldsOf = async (address: string, more: Record<string, string> = {}) => {
    const answer = await ask(address, { ...headers, ...more })
    await answer.arrayBuffer()
    return [answer.status, Object.fromEntries(answer.headers)] as const
  }
  for (let i = 0; i < 4; i++) expect(await fieldsOf('/tiles/world/v1/0/0/0.png')).toMatchObject([200, tags])
  const kept = { 'cache-control': 'public, max-age=60', vary: expect.stringContaining('Sec-Fetch-Dest'), ...tags }
  expect(await fieldsOf('/tiles/world/v1/1/0/1.png')).toMatchObject([404, kept])
  expect(await fieldsOf('/tiles/world/v1/1/0/1.png?missing=204')).toMatchObject([204, kept])
  // `fetch` overwrites `Sec-Fetch-Mode`, so this request is written by hand.
  const raw = new RawClient(Number(new URL(running.url).port))
  const image = await raw.ask({
    method: 'GET',
    target: `/tiles/world/v1/1/0/1.png?token=${running.token}`,
    headers: [
      ['Host', 'x'],
      ['Sec-Fetch-Dest', 'image'],
      ['Sec-Fetch-Mode', 'no-cors'],
    ],
  })
  raw.close()
  expect([image.status, image.lines]).toEqual([
    404,
    expect.arrayContaining(['Content-Type: image/png', 'Cache-Control: public, max-age=60']),
  ])
  for (const absent of ['/tiles/world/v1/2/0/0.png', '/tiles/world/v9/0/0/0.png', '/tiles/world/v1/0/0/0.jpg'])
    expect(await fieldsOf(absent)).toMatchObject([404, { 'cache-control': 'no-store' }])
})

test('the cache policy of a basemap decides immediately who may cache its tiles', async () => {
  const headers = { 'x-access-token': running.token }
  const addresses = ['/tiles/world/v1/0/0/0.png', '/tiles/world/current/0/0/0.png', '/tiles/world/v1/1/0/1.png']
  const values = async (more: Parameters<typeof catalogOf>[0]) => {
    const catalog = catalogOf(more)
    running.edge.native.follow(catalog)
    Object.assign(running.edge, { freshness: { ...running.edge.freshness, catalog } })
    for (const address of addresses) await statusOf(address, headers)
    return Promise.all(addresses.map(async (address) => (await ask(address, headers)).headers.get('cache-control')))
  }
  const year = 'public, max-age=31536000, immutable'
  const absent = 'public, max-age=60'
  expect(await values({})).toEqual([year, year, absent])
  expect(await values({ cachePolicy: 'private' })).toEqual([
    'private, max-age=31536000, immutable',
    'private, no-cache',
    'private, max-age=60',
  ])
  expect(await values({ cachePolicy: 'shared', sharedMaxAge: 90 })).toEqual([
    'public, max-age=31536000, s-maxage=90, immutable',
    'public, max-age=0, s-maxage=90, must-revalidate',
    absent,
  ])
  expect(await values({})).toEqual([year, year, absent])
})
