import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, PIXEL, type Tree } from '../scans/testing/trees.js'

let app: TestApp
let tree: Tree
let reader: Record<string, string>
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
  const issued = await call('POST', '/tokens', { name: 'r', basemap_codes: ['*'] })
  reader = { 'x-access-token': issued.body.token }
  tree.put('maps/world/v1/0/0/0.png', PIXEL)
  await save({})
  await scan()
  await save({ publish: 'approval' })
  for (const version of ['v2', 'v3']) tree.put(`maps/world/${version}/0/0/0.png`, PIXEL)
  await call('POST', '/targets', { code: 'portal', kind: 'http', url: 'http://192.0.2.1/hook' })
  await scan()
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function call(method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) {
  const answer = await app.admin({ method, url: `/api/v1/admin${path}`, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

const save = (more: object) =>
  call('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: tree.at('maps'), ...more })

async function scan(): Promise<void> {
  expect((await call('POST', '/scan-sources/maps/run')).body).toMatchObject({ status: 'succeeded' })
}

async function readersVersions(): Promise<unknown> {
  const { versions, default_version } = (
    await app.app.inject({ url: '/api/v1/catalog/basemaps/world', headers: reader })
  ).json()
  return [versions.map(({ version }: { version: string }) => version), default_version]
}

const held = async () =>
  (await call('GET', '/versions?held=true')).body.items.map(({ version }: { version: string }) => version)

test('a new version is held, and neither readers nor the default see it', async () => {
  expect((await call('GET', '/scan-sources/maps')).body).toMatchObject({ publish: 'approval' })
  expect(await readersVersions()).toEqual([['v1'], 'v1'])
  expect(await held()).toEqual(['v2', 'v3'])
  expect((await call('GET', '/basemaps/world/versions/v1')).body).toMatchObject({ held: false, withdrawn: false })
  expect((await call('POST', '/basemaps/world/default-version', { version: 'v2' })).status).toBe(400)
  expect((await call('PATCH', '/basemaps/world/versions/v2', { withdrawn: false })).status).toBe(409)
})

test('every action that needs a published version says that a held one waits for an approval', async () => {
  const pushed = { target_code: 'portal', basemap_code: 'world' }
  const refused = await Promise.all([
    call('POST', '/basemaps/world/default-version', { version: 'v2' }),
    call('POST', '/pushes', { ...pushed, version: 'v2' }),
    call('POST', '/exports', { basemap_code: 'world', version: 'v2' }),
    call('POST', '/exports', { basemap_code: 'world', version: 'v1', from_version: 'v2' }),
    call('POST', '/preview-links', { basemap_code: 'world', version: 'v2' }),
  ])
  const error = 'this version waits for an approval or was rejected; approve it to publish it'
  expect(refused).toEqual(refused.map(() => ({ status: 400, body: { error } })))
})

test('an approved version is published, with an audit entry and an event', async () => {
  const approved = await call('POST', '/basemaps/world/versions/v2/approve')
  expect([approved.status, approved.body]).toMatchObject([
    200,
    { version: 'v2', held: false, withdrawn: false, confirmed: [], pending: [] },
  ])
  expect(await readersVersions()).toEqual([['v1', 'v2'], 'v2'])
  expect((await call('GET', '/audit?limit=1')).body.items[0]).toMatchObject({
    action: 'version.approve',
    subject: 'world',
    before: { held: true },
    after: { held: false },
  })
  expect((await call('GET', '/event-records')).body.items).toMatchObject([
    { event: 'basemap.version.approved', target_code: 'portal', basemap_code: 'world', version: 'v2' },
  ])
  expect((await call('POST', '/basemaps/world/versions/v2/approve')).status).toBe(409)
})

test('a rejected version stays out over scans, shows the reason, and can still be approved', async () => {
  expect((await call('POST', '/basemaps/world/versions/v3/reject', {})).status).toBe(400)
  expect((await call('POST', '/basemaps/world/versions/v3/reject', { reason: 'zoom 3 is black' })).body).toMatchObject({
    held: false,
    rejected_reason: 'zoom 3 is black',
    withdrawn: true,
  })
  await scan()
  expect([await held(), await readersVersions()]).toEqual([[], [['v1', 'v2'], 'v2']])
  expect((await call('POST', '/basemaps/world/versions/v3/reject', { reason: 'again' })).status).toBe(409)
  expect((await call('GET', '/event-records?limit=1')).body.items[0]).toMatchObject({
    event: 'basemap.version.rejected',
  })
  expect((await call('POST', '/basemaps/world/versions/v3/approve')).body).toMatchObject({
    rejected_reason: null,
    withdrawn: false,
  })
  expect((await call('POST', '/basemaps/world/versions/v9/approve')).status).toBe(404)
})

test('readers do not learn of a basemap that was never published, and see it once a version is approved', async () => {
  tree.put('maps/secret/v1/0/0/0.png', PIXEL)
  await scan()
  const read = async (path: string) => {
    const answer = await app.app.inject({ url: `/api/v1/catalog/basemaps${path}`, headers: reader })
    return { status: answer.statusCode, body: answer.json() }
  }
  const codes = async () => (await read('')).body.items.map(({ code }: { code: string }) => code)
  expect([await codes(), (await read('?q=secret')).body.total]).toEqual([['world'], 0])
  expect(await read('/secret')).toEqual(await read('/absent'))
  expect(await read('/secret/archives')).toEqual(await read('/absent/archives'))
  expect(await read('/secret/changes?from=v1&to=v1')).toEqual(await read('/absent/changes?from=v1&to=v1'))
  expect((await call('GET', '/basemaps/secret')).status).toBe(200)
  const signed = { basemap_code: 'secret', expires_at: '2100-01-01T00:00:00Z' }
  expect((await call('POST', '/signed-urls', signed)).status).toBe(404)

  expect((await call('POST', '/basemaps/secret/versions/v1/reject', { reason: 'black' })).status).toBe(200)
  expect(await codes()).toEqual(['world'])
  expect((await call('POST', '/basemaps/secret/versions/v1/approve')).status).toBe(200)
  expect(await codes()).toEqual(['secret', 'world'])
  // A published basemap stays listed without versions.
  expect((await call('PATCH', '/basemaps/secret/versions/v1', { withdrawn: true })).status).toBe(200)
  expect((await read('/secret')).body).toMatchObject({ code: 'secret', versions: [] })
})
