import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { exportLoop } from '../exports/loop.js'
import { removeUnpublished } from '../exports/publish-export.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { seedLoop } from './loop.js'

const TILEJSON = { tilejson: '3.0.0', name: 'The town', tiles: ['/t/{z}/{x}/{y}.png'], minzoom: 0, maxzoom: 9 }
const WORLD = [-180, -85, 180, 85]

let app: TestApp
let home: string
let address: string
let asked: string[] = []
let lastMs = 0
/** answers that wait; null: none waits */
let waiting: ServerResponse[] | null = null
let stop = new AbortController()
let loops: Promise<void>[] = []
let tile: Buffer

const service = createServer((req, res) => {
  if (req.url === '/town.json') return void res.end(JSON.stringify(TILEJSON))
  asked.push(req.url ?? '')
  lastMs = performance.now()
  if (req.url === '/t/2/3/3.png') res.statusCode = 404
  if (req.url === '/t/2/0/1.png') return void res.end('<html>')
  if (waiting === null) res.end(tile)
  else waiting.push(res)
})

beforeAll(async () => {
  tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  home = mkdtempSync(path.join(tmpdir(), 'seeds-'))
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { DATA_DIR: home })
  address = `http://127.0.0.1:${(service.address() as AddressInfo).port}/town.json`
  await post('/scan-sources', { code: 'town', kind: 'service', url: address, options: { timeout_seconds: 120 } })
  expect((await post('/scan-sources/town/run')).json()).toMatchObject({ status: 'succeeded', added: 1 })
})
afterEach(stopLoops)
afterAll(async () => {
  await app.close()
  service.close()
  await rm(home, { recursive: true, force: true })
})

const post = (where: string, payload: object = {}) =>
  app.admin({ method: 'POST', url: `/api/v1/admin${where}`, payload })
const estimate = async (payload: object) => (await post('/seeds/estimate', payload)).json()
const seedOf = async (id: string) => (await app.admin({ url: `/api/v1/admin/seeds/${id}` })).json()
const seed = async (body: object) =>
  post('/seeds', { basemap_code: 'town', version: 'live', bounds: WORLD, min_zoom: 0, max_zoom: 2, ...body })

function startLoops(): void {
  stop = new AbortController()
  const ctx = { ...app.ctx, shutdown: stop.signal }
  loops = [seedLoop.run(ctx), exportLoop.run(ctx)]
}

async function stopLoops(): Promise<void> {
  stop.abort()
  await Promise.all(loops)
  loops = []
}

test('a seed fetches the tiles of an area at its rate, and what is kept is exported without the service', async () => {
  startLoops()
  const startMs = performance.now()
  const made = await seed({ rate: 40 })
  expect([made.statusCode, made.json()]).toMatchObject([202, { status: 'pending', total: 21, done: 0, rate: 40 }])
  const { id } = made.json()
  await expect.poll(async () => (await seedOf(id)).status, { timeout: 60_000 }).toBe('succeeded')
  const failures = [{ z: 2, x: 0, y: 1, message: expect.stringContaining('it returns no picture') }]
  expect(await seedOf(id)).toMatchObject({ progress: 100, done: 20, failed: 1, failures, message: '' })
  expect(new Set(asked).size).toBe(21)
  // However busy the machine is, requests are late and never early.
  expect((lastMs - startMs) * 1.1).toBeGreaterThan((1000 * (asked.length - 1)) / 40)
  const listed = await app.admin({ url: '/api/v1/admin/seeds?status=succeeded&basemap_code=town' })
  expect(listed.json()).toMatchObject({ total: 1, items: [{ id }] })
  const body = { basemap_code: 'town', version: 'live', bounds: WORLD, min_zoom: 0, max_zoom: 3, rate: 10 }
  const bytes_estimate = 85 * tile.length
  expect(await estimate(body)).toEqual({ tiles: 85, requests: 85, bytes_estimate, seconds: 9 })
  expect((await post('/seeds/estimate', { ...body, basemap_code: 'none' })).statusCode).toBe(404)
  const before = asked.length
  const exported = await post('/exports', { basemap_code: 'town', version: 'live', zoom_max: 2 })
  expect(exported.statusCode).toBe(202)
  const exportOf = async () => (await app.admin({ url: `/api/v1/admin/exports/${exported.json().id}` })).json()
  await expect.poll(async () => (await exportOf()).status, { timeout: 60_000 }).toBe('succeeded')
  expect(await exportOf()).toMatchObject({ tiles: 19 })
  expect(asked.length).toBe(before)
})

test('the kept tiles of a service become a version, which scans do not change', async () => {
  const wanted = { basemap_code: 'town', version: 'live', zoom_min: 1, bounds: [10, 10, 80, 60] }
  const exported = await post('/exports', { ...wanted, publish_as: 'v2026' })
  expect([exported.statusCode, exported.json()]).toMatchObject([202, { publish_as: 'v2026', version: 'live' }])
  expect((await post('/exports', { ...wanted, publish_as: 'v2026' })).statusCode).toBe(409)
  startLoops()
  const exportOf = async (id: string) => (await app.admin({ url: `/api/v1/admin/exports/${id}` })).json()
  await expect.poll(async () => (await exportOf(exported.json().id)).status, { timeout: 60_000 }).toBe('succeeded')
  // The tiles 1/1/0 and 2/2/1 lie in the area.
  expect(await exportOf(exported.json().id)).toMatchObject({ tiles: 2, message: '' })
  const basemap = async () => (await app.admin({ url: '/api/v1/admin/basemaps/town' })).json()
  const published = {
    version: 'v2026',
    storage: 'pmtiles',
    available: true,
    min_zoom: 1,
    max_zoom: 2,
    bounds: [0, 0, 90, expect.closeTo(66.513, 3)],
    tile_size: 256,
  }
  expect((await post('/scan-sources/town/run')).json()).toMatchObject({ status: 'succeeded', missing: 0 })
  const after = await basemap()
  expect(after).toMatchObject({ default_version: 'live', versions: [{ version: 'live' }, published] })
  expect((await post('/health/check')).json()).toMatchObject({ versions_checked: 1, versions_missing: 0 })
  // The version has its own file.
  await app.admin({ method: 'DELETE', url: `/api/v1/admin/exports/${exported.json().id}` })
  expect((await post('/health/check')).json()).toMatchObject({ versions_checked: 1, versions_missing: 0 })
  for (const [publish_as, status] of [
    ['v2026', 409],
    ['live', 409],
    ['current', 400],
    ['a/b', 400],
    ['', 400],
  ] as const)
    expect((await post('/exports', { ...wanted, publish_as })).statusCode, publish_as).toBe(status)
  expect((await post('/exports', { ...wanted, publish_as: 'x', format: 'mbtiles' })).statusCode).toBe(400)
  const again = await post('/exports', { ...wanted, version: 'v2026', publish_as: 'v2' })
  expect([again.statusCode, again.json().error]).toEqual([400, expect.stringContaining('of no service')])
  // It is exported and compared like others.
  const copy = await post('/exports', { basemap_code: 'town', version: 'v2026' })
  await expect.poll(async () => (await exportOf(copy.json().id)).status, { timeout: 60_000 }).toBe('succeeded')
  expect(await exportOf(copy.json().id)).toMatchObject({ tiles: 2 })
  await removeUnpublished({ ...app.ctx, now: () => Date.now() + 7 * 86_400_000 })
  expect(readdirSync(path.join(home, 'published'))).toHaveLength(1)
  const gone = await app.admin({ method: 'DELETE', url: '/api/v1/admin/basemaps/town/versions/v2026' })
  expect(gone.statusCode).toBe(200)
  expect((await basemap()).versions).toMatchObject([{ version: 'live' }])
  await removeUnpublished({ ...app.ctx, now: () => Date.now() + 7 * 86_400_000 })
  expect(readdirSync(path.join(home, 'published'))).toEqual([])
})

test('a seed continues after its runner was stopped or has crashed, and ends when it is cancelled', async () => {
  asked = []
  waiting = []
  startLoops()
  const { id } = (await seed({ min_zoom: 4, max_zoom: 4, rate: 1000 })).json()
  // Half of the lanes of the service (max_concurrent) are for others.
  const answerRound = async () => {
    await expect.poll(() => waiting?.length, { timeout: 60_000 }).toBe(4)
    for (const res of waiting?.splice(0) ?? []) res.end(tile)
  }
  for (let round = 0; round < 8; round++) await answerRound()
  await expect.poll(() => waiting?.length, { timeout: 60_000 }).toBe(4)
  await stopLoops()
  expect(await seedOf(id)).toMatchObject({ status: 'pending', done: 32, total: 256 })
  const unanswered = asked.slice(32)
  waiting = []
  startLoops()
  await expect.poll(() => waiting?.length, { timeout: 60_000 }).toBe(4)
  expect(asked.slice(36).toSorted()).toEqual(unanswered.toSorted())
  await answerRound()
  await expect.poll(() => waiting?.length, { timeout: 60_000 }).toBe(4)
  // Its runner is gone, as if it had been killed. No tile that it has kept is requested again.
  const before = asked.length
  await app.store
    .sql`UPDATE seeds SET lease_owner = gen_random_uuid(), lease_until = now() - interval '1 second' WHERE id = ${id}`
  await expect.poll(() => asked.length, { timeout: 60_000 }).toBe(before + 4)
  expect(asked.slice(before).toSorted()).toEqual(asked.slice(before - 4, before).toSorted())
  expect((await post(`/seeds/${id}/cancel`)).statusCode).toBe(202)
  await expect.poll(async () => (await seedOf(id)).status, { timeout: 60_000 }).toBe('failed')
  expect(await seedOf(id)).toMatchObject({ cancelled: true, message_code: 'seed_cancelled_by', done: 32 })
  expect((await post(`/seeds/${id}/cancel`)).statusCode).toBe(409)
  waiting = null
  const audit = await app.admin({ url: '/api/v1/admin/audit?action=seed.cancel' })
  expect(audit.json().items).toMatchObject([{ subject: id, detail: { basemap: 'town', version: 'live' } }])
})

test('a seed of a basemap that is withdrawn, or of a source that is disabled, ends with the reason', async () => {
  const change = (url: string, payload: object) => app.admin({ method: 'PATCH', url: `/api/v1/admin${url}`, payload })
  waiting = []
  startLoops()
  const { id } = (await seed({ min_zoom: 5, max_zoom: 5, rate: 1000 })).json()
  await expect.poll(() => waiting?.length, { timeout: 60_000 }).toBe(4)
  const next = (await seed({ min_zoom: 6, max_zoom: 6 })).json().id
  expect((await change('/basemaps/town', { withdrawn: true })).statusCode).toBe(200)
  const held = waiting
  waiting = null
  for (const res of held) res.end(tile)
  await expect.poll(async () => (await seedOf(id)).status, { timeout: 60_000 }).toBe('failed')
  expect(await seedOf(id)).toMatchObject({ cancelled: false, message_code: 'delivery_version_withdrawn' })
  await expect.poll(async () => (await seedOf(next)).status, { timeout: 60_000 }).toBe('failed')
  expect(await seedOf(next)).toMatchObject({ message_code: 'delivery_version_withdrawn', done: 0 })
  expect((await change('/basemaps/town', { withdrawn: false })).statusCode).toBe(200)
  await stopLoops()
  const last = (await seed({ min_zoom: 6, max_zoom: 6 })).json().id
  const source = { code: 'town', kind: 'service', path: address }
  expect((await post('/scan-sources', { ...source, enabled: false })).statusCode).toBe(200)
  startLoops()
  await expect.poll(async () => (await seedOf(last)).status, { timeout: 60_000 }).toBe('failed')
  expect(await seedOf(last)).toMatchObject({ message_code: 'seed_source_disabled', done: 0 })
  expect((await post('/scan-sources', { ...source, enabled: true })).statusCode).toBe(200)
})

test('what cannot be seeded is refused, and a service is neither checked as files nor compared', async () => {
  expect((await seed({ max_zoom: 24, min_zoom: 10 })).json().error).toContain('zooms 0 to 9')
  expect((await seed({ max_zoom: 1, min_zoom: 2 })).statusCode).toBe(400)
  expect((await seed({ basemap_code: 'nowhere' })).statusCode).toBe(404)
  expect((await seed({ rate: 0 })).statusCode).toBe(400)
  await app.store.sql`UPDATE basemap_versions SET max_zoom = 20`
  const large = await seed({ max_zoom: 20 })
  expect([large.statusCode, large.json().error]).toEqual([400, expect.stringContaining('20000000')])
  const checked = await post('/health/check')
  expect(checked.json()).toMatchObject({ versions_checked: 0, versions_missing: 0 })
  const basemap = await app.admin({ url: '/api/v1/admin/basemaps/town' })
  expect(basemap.json().versions).toMatchObject([{ version: 'live', available: true }])
})
