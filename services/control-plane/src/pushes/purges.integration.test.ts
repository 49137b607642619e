import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { deleteVersion } from '@gateway/store/basemaps.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveries } from '../features.js'
import { fillCatalog } from '../testing/catalog.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'

const home = mkdtempSync(path.join(tmpdir(), 'gateway-purges-'))
let gateway: TestApp
let receiver: Server
let stop: AbortController
let running: Promise<void>
/** What becomes of the next requests instead of 200. */
const faults: ('503' | 'cut')[] = []
const received: { tags: string[]; event: string; headers: IncomingMessage['headers'] }[] = []

beforeAll(async () => {
  receiver = createServer(async (req, res) => {
    const { tags, event } = JSON.parse(await text(req))
    received.push({ tags, event, headers: req.headers })
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

test('a cache is told of both tags when a version is withdrawn, in the headers too, signed, in the trace of that request', async () => {
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

test('a cache that answers 503 or breaks off is told again, as any receiver, until it has heard', async () => {
  received.splice(0)
  faults.push('503', 'cut')
  await admin('PATCH', '/basemaps/world/versions/v1', { withdrawn: false })
  const record = async () => (await admin('GET', '/purge-records')).json().items[0]
  await expect.poll(record).toMatchObject({ version: 'v1', status: 'succeeded', attempts: 3 })
  expect(tags()).toEqual(Array(3).fill(['b-world', 'v-world-v1']))
})

test('a cache is told of whatever changes what the addresses of tiles mean, and of nothing else', async () => {
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

test('a cache takes no pushes and no uploads', async () => {
  const push = { target_code: 'cdn', basemap_code: 'world', version: 'v2' }
  expect((await admin('POST', '/pushes', push)).statusCode).toBe(400)
  const url = 'http://127.0.0.1:1/'
  expect((await admin('POST', '/targets', { code: 'x', kind: 'purge', url, mode: 'upload' })).statusCode).toBe(400)
  expect((await admin('POST', '/targets', { code: 'x', kind: 'purge' })).statusCode).toBe(400)
})

async function setFingerprint(fingerprint: string): Promise<void> {
  await gateway.store.sql`UPDATE basemap_versions SET fingerprint = ${fingerprint} WHERE version = 'v2'`
}
