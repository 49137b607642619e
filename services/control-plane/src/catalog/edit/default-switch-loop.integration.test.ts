import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, PIXEL, type Tree } from '../scans/testing/trees.js'
import { continueCanaries, makeNextSwitch } from './default-switch-loop.js'

const HOUR_MS = 3_600_000
let app: TestApp
let tree: Tree
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
  for (const code of ['world', 'moon'])
    for (const version of ['v1', 'v2', 'v3', 'v4', 'v5']) tree.put(`maps/${code}/${version}/0/0/0.png`, PIXEL)
  await call('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: tree.at('maps') })
  await call('POST', '/scan-sources/maps/run')
  await call('POST', '/targets', { code: 'portal', kind: 'http', url: 'http://192.0.2.1/hook' })
  for (const code of ['world', 'moon']) await call('POST', `/basemaps/${code}/default-version`, { version: 'v1' })
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

const switches = async (code: string) => (await call('GET', `/basemaps/${code}/default-history`)).body.switches

test.each([
  ['withdrawn', 'v2', () => call('PATCH', '/basemaps/moon/versions/v2', { withdrawn: true })],
  ['forgotten', 'v3', () => call('DELETE', '/basemaps/moon/versions/v3')],
  [
    'no longer found by a scan',
    'v4',
    () => {
      rmSync(tree.at('maps/moon/v4'), { recursive: true })
      return call('POST', '/scan-sources/maps/run')
    },
  ],
])('a canary whose version is %s is rolled back, and an event says so', async (_, version, meanwhile) => {
  const body = { version, canary: { percent: 50, minutes: 60 } }
  expect((await call('POST', '/basemaps/moon/default-version', body)).status).toBe(200)
  await continueCanaries(app.ctx)
  expect((await switches('moon'))[0]).toMatchObject({ version, status: 'canary' })
  await meanwhile()
  await continueCanaries(app.ctx)
  expect((await switches('moon'))[0]).toMatchObject({ version, status: 'rolled_back' })
  expect((await call('GET', '/basemaps/moon')).body.default_version).toBe('v1')
  const [event] = (await call('GET', '/event-records?limit=1')).body.items
  expect(event).toMatchObject({ event: 'basemap.default.rolled_back', basemap_code: 'moon', version })
})

test('two switches whose time a clock has jumped over both happen, and happen once if it is set back', async () => {
  await call('PATCH', '/basemaps/world/versions/v1', { withdrawn: false })
  const at = new Date(Date.now() + HOUR_MS).toISOString()
  for (const code of ['world', 'moon']) await call('POST', `/basemaps/${code}/default-version`, { version: 'v5', at })
  const defaults = async () =>
    Promise.all(['world', 'moon'].map(async (code) => (await call('GET', `/basemaps/${code}`)).body.default_version))
  await makeNextSwitch({ ...app.ctx, now: () => Date.now() - 24 * HOUR_MS })
  expect(await defaults()).toEqual(['v2', 'v1'])
  for (let i = 0; i < 3; i++) await makeNextSwitch(later())
  expect(await defaults()).toEqual(['v5', 'v5'])
  await call('POST', '/basemaps/world/default-version', { version: 'v1' })
  for (let i = 0; i < 3; i++) await makeNextSwitch(app.ctx)
  expect(await defaults()).toEqual(['v1', 'v5'])
  expect((await switches('world'))[0]).toMatchObject({ version: 'v5', status: 'done' })
})

test('the history of defaults stays in order if the clock is set back', async () => {
  const { sql } = app.ctx
  await sql`UPDATE basemap_defaults SET since = since + interval '1 hour' WHERE basemap_code = 'moon' AND until IS NULL`
  await call('POST', '/basemaps/moon/default-version', { version: 'v1' })
  const [now, before] = (await call('GET', '/basemaps/moon/default-history')).body.items
  expect([now.version, before.version, now.since]).toEqual(['v1', 'v5', before.until])
  expect(Date.parse(before.until)).toBeGreaterThan(Date.parse(before.since))
})

test.each([
  [{ version: 'v2', at: '2020-01-01T00:00:00Z' }, 400],
  [{ version: 'v2', at: 'tomorrow' }, 400],
  [{ version: 'v9', at: '2999-01-01T00:00:00Z' }, 404],
])('%j returns %i', async (body, status) => {
  expect((await call('POST', '/basemaps/world/default-version', body)).status).toBe(status)
})
