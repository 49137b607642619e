import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

const TILEJSON = {
  tilejson: '3.0.0',
  name: 'The town',
  tiles: ['/t/{z}/{x}/{y}.png?key=the-secret-key'],
  minzoom: 2,
  maxzoom: 9,
}

const TILE = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#0a0' } })
  .png()
  .toBuffer()

let app: TestApp
let url: string
const asked: { readonly path: string; readonly header: unknown }[] = []
const service = createServer((req, res) => {
  asked.push({ path: req.url ?? '', header: req.headers['x-key'] })
  res.end(req.url?.startsWith('/t/') ? TILE : JSON.stringify(TILEJSON))
})

beforeAll(async () => {
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/town.json`
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
})
afterAll(async () => {
  await app.close()
  service.close()
})

test('a trial sends the secrets that are entered, and stored ones to their own address only', async () => {
  const tried = async (body: object) => {
    asked.length = 0
    const answer = await post('/scan-sources/try', { kind: 'service', ...body })
    const { problem, layers } = answer.json()
    const code = 'code' in body ? body.code : 'The-town'
    const picture = { layer: '', code, name: 'The town', preview: expect.stringMatching(/^data:image\/webp;base64,/) }
    expect([answer.statusCode, problem, layers]).toEqual([200, null, [expect.objectContaining(picture)]])
    // The picture is fetched with the same secrets.
    expect(asked[1]).toEqual({ path: expect.stringMatching(/^\/t\/.*\?key=/), header: asked[0]?.header })
    return asked[0]
  }
  const headers = { 'x-key': 'entered' }
  expect(await tried({ url: `${url}?key=entered`, headers })).toEqual({
    path: '/town.json?key=entered',
    header: 'entered',
  })
  const secrets = { url: `${url}?key=stored`, headers: { 'x-key': 'stored' } }
  await post('/scan-sources', { code: 'tried', kind: 'service', ...secrets })
  expect(await tried({ code: 'tried', path: url })).toEqual({ path: '/town.json?key=stored', header: 'stored' })
  const other = url.replace('town.json', 'other.json')
  expect(await tried({ code: 'tried', path: other })).toEqual({ path: '/other.json', header: undefined })
  await app.admin({ method: 'DELETE', url: '/api/v1/admin/scan-sources/tried' })
  asked.length = 0
})

const post = (path: string, payload: object = {}) => app.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })

test('the only layer of a service is chosen by its title, or by any name if it is the only choice', async () => {
  const tried = async (layers: readonly object[]) =>
    (await post('/scan-sources/try', { kind: 'service', url, layers })).json()
  for (const name of ['', 'The town', 'whatever'])
    expect(await tried([{ name, code: 'mine' }])).toMatchObject({ warnings: 0, layers: [{ code: 'mine' }] })
  const several = [{ name: 'other' }, { name: 'The town', code: 'mine' }]
  expect(await tried(several)).toMatchObject({ warnings: 1, layers: [{ code: 'mine' }] })
  asked.length = 0
})

test('a layer of a service is a basemap with the version live, and no response has the secrets of the source', async () => {
  const headers = { 'x-key': 'the-secret-header' }
  const saved = await post('/scan-sources', {
    code: 'town',
    kind: 'service',
    url: `${url}?key=the-secret-key`,
    headers,
    options: { ttl_seconds: 60 },
  })
  expect([saved.statusCode, saved.json()]).toMatchObject([
    200,
    { path: url, has_headers: true, options: { ttl_seconds: 60 } },
  ])
  const scan = await post('/scan-sources/town/run')
  expect(scan.json()).toMatchObject({ status: 'succeeded', added: 1 })
  expect(asked).toEqual([{ path: '/town.json?key=the-secret-key', header: 'the-secret-header' }])
  const basemap = await app.admin({ url: '/api/v1/admin/basemaps/town' })
  expect(basemap.json()).toMatchObject({
    name: 'The town',
    upstream: { state: 'closed', failures: 0, message: '' },
    versions: [{ version: 'live', storage: 'upstream', min_zoom: 2, max_zoom: 9, tile_matrix_set: 'WebMercatorQuad' }],
  })
  const before = basemap.json().versions[0].revision
  const refreshed = await post('/basemaps/town/versions/live/refresh', { min_zoom: 5 })
  expect(refreshed.json().revision).toBeGreaterThan(before)
  const again = await post('/basemaps/town/versions/live/refresh', { bounds: [170, -10, -170, 10] })
  expect(again.json().revision).toBeGreaterThan(refreshed.json().revision)
  for (const wrong of [
    { min_zoom: 5, max_zoom: 4 },
    { bounds: [0, 10, 10, 0] },
    { bounds: [0, 0, 900, 10] },
    { zoom: 1 },
  ])
    expect((await post('/basemaps/town/versions/live/refresh', wrong)).statusCode, JSON.stringify(wrong)).toBe(400)
  expect((await post('/basemaps/town/versions/old/refresh', {})).statusCode).toBe(404)
  // Saved without its secrets, it keeps them.
  expect((await post('/scan-sources', { code: 'town', kind: 'service', path: url })).json()).toMatchObject({
    has_headers: true,
  })
  expect((await post('/scan-sources/town/run')).json()).toMatchObject({ status: 'succeeded', updated: 0 })
  expect(asked.at(-1)).toEqual(asked[0])
  const audit = await app.admin({ url: '/api/v1/admin/audit' })
  for (const { body } of [saved, scan, basemap, refreshed, audit]) expect(body).not.toContain('the-secret')
})
