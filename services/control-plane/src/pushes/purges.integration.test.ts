import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { deleteVersion, growRevision } from '@gateway/store/basemaps.js'
import { setWithdrawn } from '@gateway/store/sql.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerVersion } from '../catalog/register/register-version.js'
import { startReceiver, startTcpReceiver } from '../deliveries/testing/receiver.js'
import { deliveries } from '../features.js'
import { fillCatalog, version } from '../testing/catalog.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { MAX_PURGED_TILES } from './purged-tiles.js'

const home = mkdtempSync(path.join(tmpdir(), 'gateway-purges-'))
let gateway: TestApp
let receiver: Server
let stop: AbortController
let running: Promise<void>
/** Faults of the next requests instead of 200. */
const faults: ('503' | 'cut')[] = []
interface Received {
  readonly tags: string[]
  readonly event: string
  readonly tiles?: number[][]
  readonly url_templates?: string[]
  readonly headers: IncomingMessage['headers']
}
const received: Received[] = []

beforeAll(async () => {
  receiver = createServer(async (req, res) => {
    received.push({ ...JSON.parse(await text(req)), headers: req.headers })
    const fault = faults.shift()
    if (fault === 'cut') req.socket.destroy()
    else res.writeHead(fault === '503' ? 503 : 200).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, {
    CALLBACK_ALLOW: '127.0.0.0/8',
    TOKEN_STALE_SECONDS: '1',
    RETRY_WAITS: '0.05,0.05',
  })
  await fillCatalog(gateway.store.sql, home)
  stop = new AbortController()
  running = deliveries.run({ ...gateway.ctx, shutdown: stop.signal })
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/purge`
  expect((await admin('POST', '/targets', { code: 'cdn', kind: 'purge', url, secret: 'shared' })).statusCode).toBe(200)
})
afterAll(async () => {
  stop.abort()
  await running
  await gateway.close()
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
  rmSync(home, { recursive: true, force: true })
})

const admin = (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object, headers = {}) =>
  gateway.admin({ method, url: `/api/v1/admin${url}`, headers, ...(payload && { payload }) })
const tags = () => received.map((one) => one.tags)
/** Number of purges that are under way; one of an earlier step may still arrive before that. */
const unsent = async () => (await admin('GET', '/purge-records?status=pending')).json().total

test('a cache gets both tags when a version is withdrawn, also in the headers, signed, in the trace of that request', async () => {
  received.splice(0)
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736'
  await admin(
    'PATCH',
    '/basemaps/world/versions/v1',
    { withdrawn: true },
    { traceparent: `${trace}-00f067aa0ba902b7-01` },
  )
  await expect.poll(tags).toEqual([['b-world', 'v-world-v1']])
  expect(received[0]).toMatchObject({
    event: 'cache.purge',
    headers: {
      'cache-tag': 'b-world,v-world-v1',
      'surrogate-key': 'b-world v-world-v1',
      'webhook-signature': expect.stringMatching(/^v1,/),
      traceparent: expect.stringContaining(trace),
    },
  })
  await expect
    .poll(async () => (await admin('GET', '/purge-records')).json().items[0])
    .toMatchObject({ target_code: 'cdn', basemap_code: 'world', version: 'v1', status: 'succeeded' })
})

test('a purge that gets 503 or a broken connection is retried until it succeeds', async () => {
  received.splice(0)
  faults.push('503', 'cut')
  await admin('PATCH', '/basemaps/world/versions/v1', { withdrawn: false })
  const record = async () => (await admin('GET', '/purge-records')).json().items[0]
  await expect.poll(record).toMatchObject({ version: 'v1', status: 'succeeded', attempts: 3 })
  expect(tags()).toEqual(Array(3).fill(['b-world', 'v-world-v1']))
})

test('a cache is purged by every change of the content of tile URLs, and by nothing else', async () => {
  const { sql } = gateway.store
  const steps: readonly [change: () => Promise<unknown>, expected: readonly string[]][] = [
    [() => setFingerprint('other'), ['b-world', 'v-world-v2']],
    [() => sql.begin((tx) => deleteVersion(tx, 'world', 'v1')), ['b-world', 'v-world-v1']],
    [() => admin('PATCH', '/basemaps/world', { withdrawn: true }), ['b-world']],
    [() => admin('PATCH', '/basemaps/world', { withdrawn: false }), ['b-world']],
    [() => admin('PATCH', '/basemaps/world', { cache_policy: 'private' }), ['b-world']],
    [() => sql`UPDATE scan_sources SET enabled = false WHERE code = 'maps'`, ['b-world']],
    [
      async () => {
        await setFingerprint('other')
        await admin('PATCH', '/basemaps/world', { cache_policy: 'private' })
        const { url } = (await admin('GET', '/targets/cdn')).json()
        await admin('POST', '/targets', { code: 'cdn', kind: 'purge', url, enabled: false })
        await admin('PATCH', '/basemaps/world', { cache_policy: 'interface' })
        await admin('POST', '/targets', { code: 'cdn', kind: 'purge', url, enabled: true })
        await admin('PATCH', '/basemaps/world', { cache_policy: 'shared', s_maxage: 60 })
      },
      ['b-world'],
    ],
  ]
  for (const [change, expected] of steps) {
    received.splice(0)
    await change()
    await expect.poll(tags, { message: String(change) }).toEqual([expected])
  }
})

/** Writes versions of a basemap as folders and registers them; each has the tiles of these addresses, with these texts. */
async function putVersions(code: string, maxZoom: number, versions: Record<string, Record<string, string>>) {
  const { sql } = gateway.store
  const layer = { code, name: code, tileBaseUrl: 'http://127.0.0.1:8910', sourceCode: 'maps' }
  await sql`UPDATE scan_sources SET path = ${home}, enabled = true WHERE code = 'maps'`
  for (const [label, tiles] of Object.entries(versions)) {
    const place = path.join(home, code, label)
    for (const folder of new Set(Object.keys(tiles).map((address) => path.dirname(address))))
      mkdirSync(path.join(place, folder), { recursive: true })
    for (const [address, text] of Object.entries(tiles)) writeFileSync(path.join(place, address), text)
    const format = { format: 'png', extension: 'png', minZoom: 0, maxZoom } as const
    await sql.begin((tx) => registerVersion(tx, layer, { ...version(label, 'xyz', place), ...format }, label === 'v1'))
  }
}

test('a change of the default names the tiles that differ between the two versions', async () => {
  const same = { '0/0/0.png': 'same', '1/0/0.png': 'same', '1/1/1.png': 'same' }
  const v2 = { ...same, '1/0/0.png': 'another', '1/0/1.png': 'new' }
  await putVersions('switched', 1, { v1: same, v2 })
  await admin('POST', '/basemaps/switched/default-version', { version: 'v1' })
  await expect.poll(() => received.length).toBeGreaterThan(0)
  received.splice(0)
  await admin('POST', '/basemaps/switched/default-version', { version: 'v2' })
  await expect
    .poll(() => received.map((one) => one.tiles))
    .toContainEqual([
      [1, 0, 0],
      [1, 0, 1],
    ])
  const told = received.find((one) => one.tiles !== undefined)
  expect(told?.tags).toEqual(['b-switched'])
  expect(told?.url_templates).toEqual([
    expect.stringMatching(/\/tiles\/switched\/\{z\}\/\{x\}\/\{y\}\.png$/),
    expect.stringMatching(/\/tiles\/switched\/current\/\{z\}\/\{x\}\/\{y\}\.png$/),
  ])
})

test('a change of more than 10,000 tiles is told by the tag of the basemap, and of 10,000 by their names', async () => {
  const corner = { '0/0/0.png': 'same' }
  const crowd = (count: number) => {
    const places = Array.from({ length: count }, (_, i) => `7/${i >> 7}/${i & 127}.png`)
    return { ...corner, ...Object.fromEntries(places.map((address) => [address, 'new'])) }
  }
  await putVersions('crowded', 7, { v1: corner, v2: crowd(MAX_PURGED_TILES + 1), v3: crowd(MAX_PURGED_TILES) })
  await admin('POST', '/basemaps/crowded/default-version', { version: 'v1' })
  for (const [label, count] of [
    ['v2', undefined],
    ['v1', undefined],
    ['v3', MAX_PURGED_TILES],
  ] as const) {
    await expect.poll(unsent).toBe(0)
    received.splice(0)
    await admin('POST', '/basemaps/crowded/default-version', { version: label })
    await expect.poll(() => received.map(({ tags }) => tags)).toContainEqual(['b-crowded'])
    expect(received.map(({ tiles }) => tiles?.length)).toEqual([count])
  }
}, 180_000)

test('a transaction tells a cache the same once, and purges no basemap in addition to its version', async () => {
  const { sql } = gateway.store
  const layer = { code: 'layer', name: 'Layer', tileBaseUrl: 'http://127.0.0.1:8910', sourceCode: 'maps' }
  const register = (label: string, content: string) =>
    sql.begin((tx) =>
      registerVersion(tx, layer, { ...version(label, 'xyz', `/maps/layer/${label}`), fingerprint: content }, true),
    )
  const steps: readonly [change: () => Promise<unknown>, expected: readonly (string | null)[]][] = [
    [() => register('v1', 'one'), ['v1']],
    [() => register('v1', 'two'), ['v1']],
    [
      () =>
        sql.begin(async (tx) => {
          await growRevision(tx, 'layer', 'v1')
          await growRevision(tx, 'world', 'v2')
          await growRevision(tx, 'layer', 'v1')
        }),
      ['v1', 'v1'],
    ],
    [() => sql.begin((tx) => deleteVersion(tx, 'layer', 'v1')), ['v1']],
    [() => sql.begin((tx) => setWithdrawn(tx, 'basemaps', 'layer', true)), [null]],
  ]
  let seen = 0
  for (const [change, expected] of steps) {
    await change()
    const { items, total } = (await admin('GET', '/purge-records?basemap_code=layer')).json()
    expect(items.slice(0, total - seen).map((one: { version: string | null }) => one.version)).toEqual(expected)
    seen = total
  }
})

test('a cache that never responds, responds byte by byte, or redirects is retried and blocks no other', async () => {
  const silent = await startTcpReceiver(() => {})
  const dripping = await startTcpReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    const timer = setInterval(() => socket.write('x'), 100)
    socket.on('close', () => clearInterval(timer))
  })
  const elsewhere = await startReceiver()
  const moved = await startReceiver((response) => response.writeHead(308, { location: elsewhere.url }).end())
  for (const [code, { url }] of Object.entries({ silent, dripping, moved }))
    expect((await admin('POST', '/targets', { code, kind: 'purge', url })).statusCode).toBe(200)
  received.splice(0)
  await admin('PATCH', '/basemaps/world/versions/v2', { withdrawn: true })
  // The previous test may still be sending the purge of its layer.
  await expect.poll(() => tags().filter(([first]) => first === 'b-world')).toEqual([['b-world', 'v-world-v2']])
  const record = async (target: string) => (await admin('GET', `/purge-records?target_code=${target}`)).json().items[0]
  await expect
    .poll(() => record('moved'))
    .toMatchObject({
      status: 'failed',
      attempts: 3,
      message: '308 Permanent Redirect (redirects are not followed)',
    })
  expect(elsewhere.received).toEqual([])
  for (const target of ['silent', 'dripping']) {
    // Tests the attempt itself, whose limit of 10 s is documented.
    await expect.poll(() => record(target)).toMatchObject({ attempts: 1, message: 'no answer in 10 s' })
  }
  for (const target of ['silent', 'dripping']) await admin('POST', `/purge-records/${(await record(target)).id}/cancel`)
  for (const one of [silent, dripping, elsewhere, moved]) await one.close()
}, 40_000)

test('a cache accepts neither pushes nor uploads', async () => {
  const push = { target_code: 'cdn', basemap_code: 'world', version: 'v2' }
  expect((await admin('POST', '/pushes', push)).statusCode).toBe(400)
  const url = 'http://127.0.0.1:1/'
  expect((await admin('POST', '/targets', { code: 'x', kind: 'purge', url, mode: 'upload' })).statusCode).toBe(400)
  expect((await admin('POST', '/targets', { code: 'x', kind: 'purge' })).statusCode).toBe(400)
})

async function setFingerprint(fingerprint: string): Promise<void> {
  await gateway.store.sql`UPDATE basemap_versions SET fingerprint = ${fingerprint} WHERE version = 'v2'`
}
