import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { upsertVersion } from '@gateway/store/basemaps.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillCatalog } from '../../testing/catalog.js'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

const home = mkdtempSync(path.join(tmpdir(), 'gateway-changes-'))
const PATH = '/api/v1/catalog/basemaps/world/changes'
let gateway: TestApp
let token: string

function folder(label: string, tiles: Readonly<Record<string, string>>): string {
  const place = path.join(home, 'maps/world', label)
  for (const [address, text] of Object.entries(tiles)) {
    mkdirSync(path.join(place, path.dirname(address)), { recursive: true })
    writeFileSync(path.join(place, `${address}.png`), text)
  }
  return place
}

const version = (label: string, place: string, tileMatrixSet: 'WebMercatorQuad' | 'WorldCRS84Quad') => ({
  storage: 'xyz' as const,
  format: 'png' as const,
  extension: 'png',
  tileSize: 256,
  minZoom: 0,
  maxZoom: 2,
  bounds: null,
  boundsDerived: false,
  rowsFromNorth: false,
  name: null,
  attribution: null,
  description: null,
  vectorLayers: null,
  metadata: {},
  fingerprint: label,
  path: place,
  version: label,
  tileMatrixSet,
})

async function tokenWith(more: object): Promise<string> {
  const payload = { name: 'device', basemap_codes: ['world', 'moon'], ...more }
  return (await gateway.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload })).json().token
}

beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  await fillCatalog(gateway.store.sql, home)
  const older = folder('older', { '0/0/0': 'a', '1/0/0': 'same', '1/1/0': 'gone', '2/3/3': 'old' })
  const newer = folder('newer', { '0/0/0': 'b', '1/0/0': 'same', '1/0/1': 'more', '2/3/3': 'new' })
  await gateway.store.sql.begin(async (tx) => {
    await upsertVersion(tx, 'world', version('older', older, 'WebMercatorQuad'))
    await upsertVersion(tx, 'world', version('newer', newer, 'WebMercatorQuad'))
    await upsertVersion(tx, 'world', version('degrees', newer, 'WorldCRS84Quad'))
  })
  token = await tokenWith({})
})
afterAll(async () => {
  await gateway.close()
  rmSync(home, { recursive: true, force: true })
})

const ask = (query: string, who = token, url = PATH) =>
  gateway.app.inject({ url: `${url}?${query}`, headers: { 'x-access-token': who } })
const lines = (body: string) =>
  body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

test('the differing tiles come as lines, by zoom, column and row', async () => {
  const answer = await ask('from=older&to=newer')
  expect([answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
    'no-store',
  ])
  expect(lines(answer.body)).toEqual([
    { z: 0, x: 0, y: 0, change: 'changed' },
    { z: 1, x: 0, y: 1, change: 'added' },
    { z: 1, x: 1, y: 0, change: 'removed' },
    { z: 2, x: 3, y: 3, change: 'changed' },
  ])
  const back = lines((await ask('from=newer&to=older')).body).map(({ change }) => change)
  expect(back).toEqual(['changed', 'removed', 'added', 'changed'])
  const same = await ask('from=newer&to=newer')
  expect([same.statusCode, same.body]).toEqual([200, ''])
})

test('a token with an area gets the tiles that touch it, and nothing of a map outside of it', async () => {
  const area = await tokenWith({ bounds: [100, -80, 120, -70] })
  expect(lines((await ask('from=older&to=newer', area)).body)).toEqual([
    { z: 0, x: 0, y: 0, change: 'changed' },
    { z: 2, x: 3, y: 3, change: 'changed' },
  ])
})

test('refusals come in order', async () => {
  const status = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).statusCode
  expect(await status('from=older&to=newer', 'bmp_none')).toBe(401)
  expect(await status('from=older&to=newer', await tokenWith({ scopes: ['slice'] }))).toBe(403)
  expect(await status('from=older&to=newer', await tokenWith({ basemap_codes: [] }))).toBe(403)
  expect(await status('from=older&to=newer', token, PATH.replace('world', 'mars'))).toBe(403)
  expect(await status('from=older&to=newer', token, PATH.replace('world', 'moon'))).toBe(404)
  expect(await status('from=older&to=none')).toBe(404)
  expect(await status('from=older')).toBe(400)
  expect(await status('from=older&to=newer&zoom=1')).toBe(400)
  expect(await status('from=older&to=degrees')).toBe(400)
  // A file with the name of an archive, but other content.
  expect(await status('from=v1&to=v2')).toBe(409)
})

test('a caller that disconnects ends its list, and frees its slot', async () => {
  await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = gateway.app.server.address() as AddressInfo
  for (let i = 0; i < 4; i++) {
    await new Promise<void>((resolve) => {
      const request = http.get({ port, path: `${PATH}?from=older&to=newer`, headers: { 'x-access-token': token } })
      request.once('error', () => resolve())
      request.once('socket', (socket) => socket.once('connect', () => setImmediate(() => request.destroy())))
    })
  }
  await expect.poll(async () => (await ask('from=older&to=newer')).statusCode).toBe(200)
})

test('at most two lists are built at the same time', async () => {
  const atOnce = async () => {
    const all = await Promise.all([1, 2, 3].map(() => ask('from=older&to=newer')))
    return all.map(({ statusCode }) => statusCode).sort()
  }
  await expect.poll(atOnce).toEqual([200, 200, 429])
})
