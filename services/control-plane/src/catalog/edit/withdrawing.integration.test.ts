import { existsSync, readdirSync } from 'node:fs'
import { readBasemap, readBasemaps } from '@gateway/store/basemaps.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { insertPush } from '@gateway/store/deliveries.js'
import { appendLayerSources } from '@gateway/store/layer-sources.js'
import { readScanSources } from '@gateway/store/scan-sources.js'
import { readVectors } from '@gateway/store/vectors.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runElsewhere } from '../../jobs/testing/run-elsewhere.js'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { SCAN } from '../scans/scan-lock.js'
import { makeTree, PIXEL, type Tree } from '../scans/testing/trees.js'
import { sourcesFromSettings } from '../sources/configured-sources.js'

let app: TestApp
let tree: Tree
let reader: Record<string, string>
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, {
    SLICE_OUTPUT_ROOT: tree.at('layers'),
    TOKEN_STALE_SECONDS: '1',
  })
  await sourcesFromSettings(app.ctx.sql, app.ctx.settings)
  for (const version of ['v1', 'v2', 'v3']) tree.put(`maps/world/${version}/0/0/0.png`, PIXEL)
  for (const name of ['roads', 'rivers'])
    tree.put(`vectors/${name}.geojson`, '{"type":"FeatureCollection","features":[]}')
  await call('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: tree.at('maps') })
  await call('POST', '/scan-sources', { code: 'vectors', kind: 'vector', path: tree.at('vectors') })
  await scanAll()
  const issued = await call('POST', '/tokens', { name: 'r', basemap_codes: ['*'], vector_codes: ['*'] })
  reader = { 'x-access-token': issued.body.token }
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) {
  const answer = await app.admin({ method, url: `/api/v1/admin${path}`, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

async function scanAll(): Promise<void> {
  for (const code of ['maps', 'vectors', 'layers'])
    expect((await call('POST', `/scan-sources/${code}/run`)).status).toBe(200)
}

async function catalog(path: string) {
  const answer = await app.app.inject({ url: `/api/v1/catalog${path}`, headers: reader })
  return { status: answer.statusCode, body: answer.json() }
}

const listed = async (kind: 'basemaps' | 'vectors') =>
  (await catalog(`/${kind}`)).body.items.map(({ code }: { code: string }) => code)

async function logged(work: () => Promise<unknown>): Promise<string[]> {
  const before = await currentState(app.ctx.sql)
  await work()
  const since = await changesSince(app.ctx.sql, before)
  return since.covered ? since.changes.map(({ kind, key }) => `${kind} ${key}`).sort() : ['not covered']
}

const lastAudit = async () => (await call('GET', '/audit?limit=1')).body.items[0]

test('a withdrawn basemap is neither listed nor found by readers, stays so over a scan, and can be restored', async () => {
  const changes = await logged(async () => {
    const { status, body } = await call('PATCH', '/basemaps/world', { withdrawn: true })
    expect([status, body]).toMatchObject([200, { code: 'world', withdrawn: true, confirmed: [], pending: [] }])
  })
  expect(changes).toEqual(['basemap world'])
  expect(await lastAudit()).toMatchObject({
    action: 'basemap.withdraw',
    subject: 'world',
    actor: 'token',
    before: { withdrawn: false },
    after: { withdrawn: true },
  })
  tree.put('maps/world/v4/0/0/0.png', PIXEL)
  await scanAll()
  expect(await listed('basemaps')).toEqual([])
  expect((await catalog('/basemaps/world')).status).toBe(404)
  const health = (await call('POST', '/health/check')).body
  expect([health.versions_checked, health.vectors_checked]).toEqual([0, 2])
  expect((await call('PATCH', '/basemaps/world', { withdrawn: false })).body).toMatchObject({ withdrawn: false })
  expect(await listed('basemaps')).toEqual(['world'])
  expect((await catalog('/basemaps/world')).body.versions).toHaveLength(4)
})

test('if the default version is withdrawn, current means the highest served one, until it is restored', async () => {
  await call('POST', '/basemaps/world/default-version', { version: 'v3' })
  const withdrawn = await call('PATCH', '/basemaps/world/versions/v3', { withdrawn: true })
  expect(withdrawn.body).toMatchObject({ version: 'v3', withdrawn: true, confirmed: [], pending: [] })
  await call('PATCH', '/basemaps/world/versions/v4', { withdrawn: true })
  const seen = (await catalog('/basemaps/world')).body
  expect([seen.default_version, seen.versions.map((v: { version: string }) => v.version)]).toEqual(['v2', ['v1', 'v2']])
  expect((await call('POST', '/basemaps/world/default-version', { version: 'v4' })).status).toBe(400)
  const push = { target_code: 'portal', basemap_code: 'world', version: 'v3' }
  await call('POST', '/targets', { code: 'portal', kind: 'directory', path: tree.root })
  expect((await call('POST', '/pushes', push)).status).toBe(400)
  for (const version of ['v3', 'v4']) await call('PATCH', `/basemaps/world/versions/${version}`, { withdrawn: false })
  expect((await catalog('/basemaps/world')).body.default_version).toBe('v3')
})

test('a withdrawn vector returns 404 to tokens that may read it, whatever name they were granted', async () => {
  await call('PATCH', '/vectors/roads', { withdrawn: true })
  expect(await listed('vectors')).toEqual(['rivers'])
  const issued = await call('POST', '/tokens', { name: 'n', vector_codes: ['roads.geojson'] })
  const answer = await app.app.inject({
    url: '/api/v1/catalog/vectors/roads',
    headers: { 'x-access-token': issued.body.token },
  })
  expect(answer.statusCode).toBe(404)
  await call('PATCH', '/vectors/roads', { withdrawn: false })
  expect(await listed('vectors')).toEqual(['rivers', 'roads'])
})

test('a disabled source withdraws its objects at once, and restores them without a scan', async () => {
  const save = (code: string, kind: string, enabled: boolean) =>
    call('POST', '/scan-sources', { code, kind, path: tree.at(code), enabled })
  const changes = await logged(async () => {
    expect((await save('maps', 'basemap', false)).body).toMatchObject({ enabled: false })
    await save('vectors', 'vector', false)
  })
  expect(changes).toEqual(['basemap world', 'vector rivers', 'vector roads'])
  expect([await listed('basemaps'), await listed('vectors')]).toEqual([[], []])
  expect((await call('GET', '/basemaps')).body.items[0]).toMatchObject({ withdrawn: false, source_enabled: false })
  expect((await call('POST', '/health/check')).body).toMatchObject({ versions_checked: 0, vectors_checked: 0 })
  await save('maps', 'basemap', true)
  await save('vectors', 'vector', true)
  expect([await listed('basemaps'), await listed('vectors')]).toEqual([['world'], ['rivers', 'roads']])
})

test('an unknown object cannot be withdrawn or forgotten, and the body accepts no other fields', async () => {
  for (const path of ['/basemaps/no', '/basemaps/world/versions/no', '/basemaps/no/versions/v1', '/vectors/no']) {
    expect([path, (await call('PATCH', path, { withdrawn: true })).status]).toEqual([path, 404])
    expect([path, (await call('DELETE', path)).status]).toEqual([path, 404])
  }
  for (const path of ['/scan-sources/no', '/targets/no']) expect((await call('DELETE', path)).status).toBe(404)
  for (const body of [{}, { withdrawn: 'yes' }, { withdrawn: true, default_version: 'v1' }]) {
    expect((await call('PATCH', '/basemaps/world', body)).status).toBe(400)
  }
})

test('a forgotten object is found again by a scan, under a revision that it never had', async () => {
  const before = (await readBasemap(app.ctx.sql, 'world'))?.versions ?? []
  expect((await call('DELETE', '/basemaps/world/versions/v3')).body).toMatchObject({
    files: 0,
    confirmed: [],
    pending: [],
  })
  expect(await readBasemap(app.ctx.sql, 'world')).toMatchObject({ setDefault: null, defaultVersion: 'v4' })
  expect((await call('DELETE', '/basemaps/world')).status).toBe(200)
  expect((await call('DELETE', '/vectors/roads')).status).toBe(200)
  expect([await listed('basemaps'), await listed('vectors')]).toEqual([[], ['rivers']])
  await scanAll()
  expect([await listed('basemaps'), await listed('vectors')]).toEqual([['world'], ['rivers', 'roads']])
  const after = (await readBasemap(app.ctx.sql, 'world'))?.versions ?? []
  expect(Math.min(...after.map((v) => v.revision))).toBeGreaterThan(Math.max(...before.map((v) => v.revision)))
})

test('one of several simultaneous deletions of an object succeeds, and the audit has it once', async () => {
  await call('POST', '/targets', { code: 'raced', kind: 'http', url: 'http://192.0.2.1/' })
  for (const path of ['/basemaps/world/versions/v3', '/basemaps/world', '/vectors/roads', '/targets/raced']) {
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => call('DELETE', path)))
    expect([path, ...answers.map(({ status }) => status).sort()]).toEqual([path, 200, 404, 404, 404, 404])
  }
  const { items } = (await call('GET', '/audit?limit=4')).body
  expect(items.map(({ action }: { action: string }) => action)).toEqual([
    'target.delete',
    'vector.delete',
    'basemap.delete',
    'version.delete',
  ])
  await scanAll()
})

test('a revision is incremented only with the content', async () => {
  const revisions = async () =>
    (await readBasemap(app.ctx.sql, 'world'))?.versions.map(({ revision }) => revision) ?? []
  const before = await revisions()
  await scanAll()
  expect(await revisions()).toEqual(before)
  tree.put('maps/world/v2/1/0/0.png', PIXEL)
  await scanAll()
  const grown = await revisions()
  expect(grown.map((revision, i) => revision > (before[i] as number))).toEqual([false, true, false, false])
  expect((await catalog('/basemaps/world')).body.versions[1]).toMatchObject({ version: 'v2', revision: grown[1] })
  // During a rollout, or after a rollback, a program without support for revisions writes here too.
  await app.ctx.sql`UPDATE basemap_versions SET fingerprint = 'other' WHERE version = 'v1'`
  expect((await revisions())[0]).toBeGreaterThan(grown[1] as number)
})

test('a source is forgotten with its objects, but not during a scan, and never that of slicing', async () => {
  tree.put('more/lake/v1/0/0/0.png', PIXEL)
  await call('POST', '/scan-sources', { code: 'more', kind: 'basemap', path: tree.at('more') })
  await call('POST', '/scan-sources/more/run')
  const endScan = await runElsewhere(app.ctx.sql, SCAN)
  expect((await call('DELETE', '/scan-sources/more')).status).toBe(409)
  await endScan()
  expect(await logged(() => call('DELETE', '/scan-sources/more'))).toEqual(['basemap lake'])
  expect(await listed('basemaps')).toEqual(['world'])
  expect((await readScanSources(app.ctx.sql, 'more')).length).toBe(0)
  expect(existsSync(tree.at('more/lake/v1/0/0/0.png'))).toBe(true)
  expect((await call('DELETE', '/scan-sources/layers')).status).toBe(409)
})

test('a target is forgotten with its records, and nothing is sent to it afterwards', async () => {
  await call('POST', '/targets', { code: 'gone', kind: 'http', url: 'http://192.0.2.1/' })
  await app.ctx.sql.begin((tx) =>
    insertPush(tx, { code: 'gone', lane: 'message' }, { kind: 'vector_push', vectorCode: 'x' }),
  )
  expect((await call('DELETE', '/targets/gone')).status).toBe(200)
  expect((await call('GET', '/targets')).body.items.map(({ code }: { code: string }) => code)).not.toContain('gone')
  expect(await app.ctx.sql`SELECT id FROM deliveries WHERE target_code = 'gone'`).toHaveLength(0)
  expect(await lastAudit()).toMatchObject({ action: 'target.delete', subject: 'gone' })
})

test('files are deleted only if they were sliced here, only on request, and not while a job may write them', async () => {
  for (const version of ['v1', 'v2', 'v3']) tree.put(`layers/city/${version}/0/0/0.png`, PIXEL)
  await scanAll()
  // The files of v3 were added manually.
  const [job] = await app.ctx.sql<{ id: string }[]>`
    INSERT INTO slice_jobs (name, source_paths, target_code, zoom_min, zoom_max, tile_size, tile_format, status)
    VALUES ('j', ARRAY['/i.tif'], 'city', 0, 0, 256, 'webp', 'pending') RETURNING id`
  const id = job?.id as string
  for (const version of ['v1', 'v2']) {
    await app.ctx.sql.begin((tx) => appendLayerSources(tx, { code: 'city', version }, id, ['/i.tif']))
  }
  expect((await call('DELETE', '/basemaps/world?files=true')).status).toBe(400)
  expect((await call('DELETE', '/basemaps/city?files=true')).status).toBe(409)
  await app.ctx.sql`UPDATE slice_jobs SET status = 'failed'`
  expect((await call('DELETE', '/basemaps/city/versions/v3?files=true')).status).toBe(400)
  expect((await call('DELETE', '/basemaps/city/versions/v1?files=true')).body).toMatchObject({ files: 1 })
  expect(readdirSync(tree.at('layers/city')).sort()).toEqual(['v2', 'v3'])
  expect((await call('DELETE', '/basemaps/city')).body).toMatchObject({ files: 0 })
  expect(readdirSync(tree.at('layers/city')).sort()).toEqual(['v2', 'v3'])
  await scanAll()
  expect((await call('DELETE', '/basemaps/city?files=true')).body).toMatchObject({ files: 1 })
  expect(readdirSync(tree.at('layers/city'))).toEqual(['v3'])
  expect((await readBasemaps(app.ctx.sql, ['city'])).length).toBe(0)
  expect((await readVectors(app.ctx.sql, null)).length).toBe(2)
})
