import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, PIXEL, type Tree } from '../scans/testing/trees.js'
import { makeNextSwitch } from './switch-loop.js'

const HOUR_MS = 3_600_000
let app: TestApp
let tree: Tree
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
  for (const version of ['v1', 'v2']) tree.put(`maps/world/${version}/0/0/0.png`, PIXEL)
  await call('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: tree.at('maps') })
  await call('POST', '/scan-sources/maps/run')
  await call('POST', '/targets', { code: 'portal', kind: 'http', url: 'http://192.0.2.1/hook' })
  await call('POST', '/basemaps/world/default-version', { version: 'v1' })
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) {
  const answer = await app.admin({ method, url: `/api/v1/admin${path}`, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

const later = () => ({ ...app.ctx, now: () => Date.now() + 2 * HOUR_MS })
const plan = (version: string) =>
  call('POST', '/basemaps/world/default-version', { version, at: new Date(Date.now() + HOUR_MS).toISOString() })
const current = async () => (await call('GET', '/basemaps/world')).body.default_version

test('a switch is pending until its time, happens once, and is recorded by the audit and an event', async () => {
  const { status, body } = await plan('v2')
  expect([status, body]).toMatchObject([200, { default_version: 'v1', pending_switch: { version: 'v2' } }])
  expect((await call('GET', '/basemaps/world/default-switch')).body).toEqual(body.pending_switch)
  expect((await plan('v1')).status).toBe(409)
  await makeNextSwitch(app.ctx)
  expect(await current()).toBe('v1')
  await Promise.all([makeNextSwitch(later()), makeNextSwitch(later())])
  expect(await current()).toBe('v2')
  expect((await call('GET', '/basemaps/world/default-switch')).status).toBe(404)
  const [made, planned] = (await call('GET', '/audit?limit=2')).body.items
  expect([made, planned]).toMatchObject([
    { action: 'basemap.default-version', before: { default_version: 'v1' }, after: { default_version: 'v2' } },
    { action: 'basemap.plan-switch' },
  ])
  expect((await call('GET', '/event-records')).body).toMatchObject({
    total: 1,
    items: [{ event: 'basemap.default.switched', version: 'v2' }],
  })
})

test('a cancelled switch does not happen', async () => {
  await plan('v1')
  expect((await call('DELETE', '/basemaps/world/default-switch')).body).toMatchObject({ version: 'v1' })
  expect((await call('DELETE', '/basemaps/world/default-switch')).status).toBe(404)
  await makeNextSwitch(later())
  expect(await current()).toBe('v2')
})

test('a switch to a version that was withdrawn meanwhile fails, and an event contains the reason', async () => {
  await plan('v1')
  await call('PATCH', '/basemaps/world/versions/v1', { withdrawn: true })
  await makeNextSwitch(later())
  expect(await current()).toBe('v2')
  expect((await call('GET', '/event-records?limit=1')).body.items[0]).toMatchObject({
    event: 'basemap.default.switch_failed',
  })
})

test.each([
  [{ version: 'v2', at: '2020-01-01T00:00:00Z' }, 400],
  [{ version: 'v2', at: 'tomorrow' }, 400],
  [{ version: 'v9', at: '2999-01-01T00:00:00Z' }, 404],
])('%j returns %i', async (body, status) => {
  expect((await call('POST', '/basemaps/world/default-version', body)).status).toBe(status)
})
