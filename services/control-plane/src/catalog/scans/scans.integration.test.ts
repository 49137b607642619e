import { renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { Scan } from '@gateway/contracts/scan-source.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { startScan } from '@gateway/store/scan-sources.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runElsewhere } from '../../jobs/testing/run-elsewhere.js'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { registerVersion } from '../register/register-version.js'
import { scanQueue } from './queue.js'
import { runScan } from './run.js'
import { SCAN } from './scan-lock.js'
import { foundVersion } from './testing/catalog.js'
import { makeTree, PIXEL, POINT, type Tree } from './testing/trees.js'

let app: TestApp
let tree: Tree
beforeAll(async () => {
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
})
afterAll(() => app.close())
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

const get = async <T>(path: string): Promise<T> => (await app.admin({ url: `/api/v1/admin${path}` })).json()
const post = (path: string, payload: object = {}) => app.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })

async function source(code: string, kind: 'basemap' | 'vector', path = tree.root): Promise<void> {
  const { statusCode } = await post('/scan-sources', { code, kind, path })
  expect(statusCode).toBe(200)
}

async function scan(code: string): Promise<Scan> {
  const answer = await post(`/scan-sources/${code}/run`)
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

async function basemap(code: string): Promise<AdminBasemap | undefined> {
  return (await get<{ items: AdminBasemap[] }>('/basemaps')).items.find((one) => one.code === code)
}

async function changesDuring(work: () => Promise<unknown>): Promise<string[]> {
  const before = await currentState(app.ctx.sql)
  await work()
  const since = await changesSince(app.ctx.sql, before)
  return since.covered ? since.changes.map(({ kind, key }) => `${kind} ${key}`).sort() : ['not covered']
}

/** Starts the scan of a vector source, which cannot continue before the work is done. */
function duringScan(code: string, work: (tx: Transaction) => Promise<void>): Promise<{ ended: Promise<Scan> }> {
  return app.ctx.sql.begin(async (tx) => {
    // The scan reads its known vectors before its walk.
    await tx`LOCK TABLE vectors IN ACCESS EXCLUSIVE MODE`
    const ended = scan(code)
    await until(() => tx`SELECT 1 FROM scans WHERE source_code = ${code} AND status = 'running'`)
    await work(tx)
    return { ended }
  })
}

const vectorsOf = (code: string) => app.ctx.sql`SELECT code FROM vectors WHERE source_code = ${code}`

/** Waits until a query returns a row; the time limit of the test applies. */
async function until(query: () => PromiseLike<readonly unknown[]>): Promise<void> {
  while ((await query()).length === 0) await sleep(1)
}

describe('a scan', () => {
  test('waits for a store that accepts no further connection, and then succeeds', async () => {
    tree.put('crowded/v1/0/0/0.png', PIXEL)
    await source('crowded', 'basemap')
    const waits = vi.spyOn(app.ctx.log, 'warn')
    const { options } = app.ctx.sql
    const { port } = options
    // Nothing listens there, so that only open connections go on.
    options.port = [await freePort()]
    const scanned = scan('crowded')
    await vi.waitUntil(() => waits.mock.calls.some(([, words]) => words?.includes('waits for the store')), {
      timeout: 90_000,
    })
    options.port = port
    expect(await scanned).toMatchObject({ status: 'succeeded', added: 1 })
    waits.mockRestore()
  })

  test('names what it found for the first time: lists take its id as a filter', async () => {
    tree.put('n1/v1/0/0/0.png', PIXEL)
    await source('named', 'basemap')
    await scan('named')
    tree.put('n1/v2/0/0/0.png', PIXEL)
    tree.put('n1/v1/1/0/0.png', PIXEL)
    const { id, added, updated } = await scan('named')
    expect([added, updated]).toEqual([1, 1])
    expect(await get(`/versions?scan=${id}`)).toMatchObject({ items: [{ version: 'v2' }], total: 1 })
    tree.put('roads.geojson', POINT)
    await source('named-vectors', 'vector')
    const { id: ofVectors } = await scan('named-vectors')
    expect(await get(`/vectors?scan=${ofVectors}`)).toMatchObject({ items: [{ file_name: 'roads.geojson' }], total: 1 })
    expect(await get(`/vectors?scan=${id}`)).toMatchObject({ total: 0 })
  })

  test('logs one change for each basemap that differs, and none for unchanged ones', async () => {
    for (const place of ['m1/v1', 'm1/v2', 'm2/v1']) tree.put(`${place}/0/0/0.png`, PIXEL)
    await source('logged', 'basemap')
    expect(await changesDuring(() => scan('logged'))).toEqual(['basemap m1', 'basemap m2'])
    const [state, stored] = [await currentState(app.ctx.sql), await basemap('m1')]
    expect(await scan('logged')).toMatchObject({ status: 'succeeded', added: 0, updated: 0, missing: 0 })
    // Edges follow the revision, so with the same one they read nothing.
    expect(await currentState(app.ctx.sql)).toEqual(state)
    expect(await basemap('m1')).toEqual(stored)
    tree.put('m2/v1/1/0/0.png', PIXEL)
    expect(await changesDuring(async () => expect(await scan('logged')).toMatchObject({ updated: 1 }))).toEqual([
      'basemap m2',
    ])
    rmSync(tree.at('m1/v2'), { recursive: true })
    expect(await changesDuring(async () => expect(await scan('logged')).toMatchObject({ missing: 1 }))).toEqual([
      'basemap m1',
    ])
    expect((await basemap('m1'))?.versions).toMatchObject([{ available: true }, { version: 'v2', available: false }])
  })

  test('updates the public URL of found objects', async () => {
    tree.put('moved/v1/0/0/0.png', PIXEL)
    await source('renewing', 'basemap')
    await scan('renewing')
    const ctx = { ...app.ctx, settings: { ...app.ctx.settings, tilePublicBaseUrl: 'https://tiles.example' } }
    const renew = () => runScan(ctx, { code: 'renewing', kind: 'basemap', path: tree.root })
    expect(await changesDuring(renew)).toEqual(['basemap moved'])
    expect((await basemap('moved'))?.url_template).toBe('https://tiles.example/tiles/moved/current/{z}/{x}/{y}.png')
  })

  test('leaves a basemap to the source that had it first, and reports that', async () => {
    tree.put('one/shared/v1/0/0/0.png', PIXEL)
    tree.put('two/shared/v2/0/0/0.png', PIXEL)
    await source('first', 'basemap', tree.at('one'))
    await source('second', 'basemap', tree.at('two'))
    await scan('first')
    const { status, added, message } = await scan('second')
    expect([status, added, message]).toEqual([
      'succeeded',
      0,
      '"shared" is left out: the code belongs to scan source "first"',
    ])
    expect(await basemap('shared')).toMatchObject({ source_code: 'first', versions: [{ version: 'v1' }] })
  })

  test('of a missing source fails with the reason and changes nothing', async () => {
    tree.put('maps/gone/v1/0/0/0.png', PIXEL)
    await source('unmounted', 'basemap', tree.at('maps'))
    await scan('unmounted')
    renameSync(tree.at('maps'), tree.at('away'))
    const changes = await changesDuring(async () => {
      expect(await scan('unmounted')).toMatchObject({
        status: 'failed',
        missing: 0,
        message: `${tree.at('maps')} is missing: nothing was changed`,
      })
    })
    expect(changes).toEqual([])
    expect((await basemap('gone'))?.versions).toMatchObject([{ available: true }])
  })

  test('keeps metadata of any type, and finds it unchanged the next time', async () => {
    tree.put('odd/v1/0/0/0.png', PIXEL)
    const layers = [{ id: 'a', description: 'x', minzoom: 0, fields: { b: 'String', a: 'Number' } }]
    const metadata = { name: 'n\0ul \ud800', attribution: '© \0', bounds: [-0, -1, 1, 1], vector_layers: layers }
    tree.put('odd/v1/tilejson.json', JSON.stringify(metadata))
    await source('odd', 'basemap')
    expect(await scan('odd')).toMatchObject({ status: 'succeeded', added: 1 })
    expect(await scan('odd')).toMatchObject({ added: 0, updated: 0, missing: 0 })
    expect((await basemap('odd'))?.name).toBe('nul \ufffd')
  })

  test('does not change objects registered during the scan', async () => {
    tree.put('layer/v1/0/0/0.png', PIXEL)
    await source('layering', 'basemap')
    await scan('layering')
    const { sql } = app.ctx
    const running = await sql.begin(async (tx) => {
      // Versions cannot be read until this commits: the scan walks, and then waits.
      await tx`LOCK TABLE basemap_versions IN ACCESS EXCLUSIVE MODE`
      const scanning = scan('layering')
      await until(() => sql`SELECT 1 FROM scans WHERE source_code = 'layering' AND status = 'running'`)
      const layer = { code: 'layer', name: 'Layer', tileBaseUrl: 'x', sourceCode: 'layering' }
      await registerVersion(tx, layer, foundVersion('v2'), true)
      await until(
        () => sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return { scanning }
    })
    expect(await running.scanning).toMatchObject({ status: 'succeeded', missing: 0 })
    expect(await basemap('layer')).toMatchObject({
      default_version: 'v2',
      versions: [
        { version: 'v1', available: true },
        { version: 'v2', available: true },
      ],
    })
    expect(await scan('layering')).toMatchObject({ missing: 1 })
  })
})

describe('vectors', () => {
  test('are found, disappear and return under the same code', async () => {
    tree.put('a b.geojson', POINT)
    tree.put('a-b.geojson', POINT)
    await source('shapes', 'vector')
    expect(await changesDuring(() => scan('shapes'))).toEqual(['vector a-b', 'vector a-b-2'])
    rmSync(tree.at('a b.geojson'))
    expect(await changesDuring(() => scan('shapes'))).toEqual(['vector a-b'])
    tree.put('a b.geojson', POINT)
    expect(await scan('shapes')).toMatchObject({ added: 0, updated: 1, missing: 0 })
    const { items } = await get<{ items: AdminVector[] }>('/vectors?q=A-B')
    expect(items).toMatchObject([
      { code: 'a-b', relative_path: 'a b.geojson', available: true, size: POINT.length },
      { code: 'a-b-2', relative_path: 'a-b.geojson', path: tree.at('a-b.geojson') },
    ])
  })

  test('have facts from their content; those found by an earlier release are read once', async () => {
    tree.put(
      'told.json',
      '{"type":"Feature","properties":{"na\\u0000me":"x"},"geometry":{"type":"Point","coordinates":[8,47]}}',
    )
    await source('facts', 'vector')
    await scan('facts')
    const told = async () => (await get<{ items: AdminVector[] }>('/vectors?q=told')).items[0]
    const facts = {
      crs: 'EPSG:4326',
      bounds: [8, 47, 8, 47],
      geometry_type: 'Point',
      feature_count: 1,
      encoding: 'UTF-8',
    }
    expect(await told()).toMatchObject({ ...facts, fields: [{ name: 'name', type: 'string' }] })
    // A file that disappears and returns unchanged is not read again.
    renameSync(tree.at('told.json'), tree.at('away'))
    await scan('facts')
    renameSync(tree.at('away'), tree.at('told.json'))
    await scan('facts')
    expect(await told()).toMatchObject(facts)
    // An earlier release without facts writes another state of the file.
    await app.ctx.sql`UPDATE vectors SET fingerprint = 'another' WHERE code = 'told'`
    expect(await told()).toMatchObject({ crs: null, bounds: null, fields: null })
    expect(await scan('facts')).toMatchObject({ updated: 1 })
    expect(await told()).toMatchObject(facts)
    expect(await scan('facts')).toMatchObject({ updated: 0 })
  })

  test('of all enabled sources are scanned by one call, in sequence', async () => {
    tree.put('x/1.json', POINT)
    tree.put('y/2.json', POINT)
    await source('rescan-x', 'vector', tree.at('x'))
    await source('rescan-y', 'vector', tree.at('y'))
    await post('/scan-sources', { code: 'rescan-off', kind: 'vector', path: tree.root, enabled: false })
    const { items, total } = (await post('/vectors/rescan')).json<{
      items: (Scan & { source_code: string })[]
      total: number
    }>()
    expect(items.find((item) => item.source_code === 'rescan-x')).toMatchObject({ status: 'succeeded', added: 1 })
    expect(items.find((item) => item.source_code === 'rescan-y')).toMatchObject({ status: 'succeeded', added: 1 })
    expect(items.map((item) => item.source_code)).not.toContain('rescan-off')
    expect(total).toBe(items.length)
  })

  test('thousands are written in one run and returned by page', async () => {
    for (let i = 0; i < 5000; i++) tree.put(`many/${i % 50}/${i}.json`, POINT)
    await source('many', 'vector')
    expect(await scan('many')).toMatchObject({ status: 'succeeded', added: 5000 })
    expect(await scan('many')).toMatchObject({ added: 0, updated: 0, missing: 0 })
    const page = await get<{ items: unknown[]; total: number }>('/vectors?q=many-4&limit=10&offset=5')
    expect(page.items).toHaveLength(10)
    expect(page.total).toBe(1100)
    rmSync(tree.at('many'), { recursive: true })
    // More changes than the log records individually.
    expect(await changesDuring(() => scan('many'))).toEqual(['all '])
  })
})

describe('one scan at a time', () => {
  test('during a scan of another process, scans and rescans are refused', async () => {
    tree.put('busy/v1/0/0/0.png', PIXEL)
    await source('busy', 'basemap')
    const endElsewhere = await runElsewhere(app.ctx.sql, SCAN)
    for (const path of ['/scan-sources/busy/run', '/vectors/rescan']) {
      const answer = await post(path)
      expect([answer.statusCode, answer.json()]).toEqual([409, { error: 'a scan is already running' }])
    }
    await endElsewhere()
    expect(await scan('busy')).toMatchObject({ added: 1 })
  })

  test('a scan that lost its lease writes nothing, and reports why', async () => {
    tree.put('lost.geojson', POINT)
    await source('lost', 'vector')
    let endElsewhere: () => Promise<unknown> = () => Promise.resolve()
    const { ended } = await duringScan('lost', async () => {
      // Simulates a control plane that did not renew the lease in time.
      await app.ctx.sql`UPDATE jobs SET lease_until = now() - interval '1 second' WHERE kind = 'scan'`
      endElsewhere = await runElsewhere(app.ctx.sql, SCAN)
    })
    expect(await ended).toMatchObject({ status: 'failed', message_code: 'scan_lease_lost' })
    await endElsewhere()
    expect(await vectorsOf('lost')).toEqual([])
    expect(await scan('lost')).toMatchObject({ status: 'succeeded', added: 1 })
  })

  test('a scan left running by a dead process counts as failed once the next one starts', async () => {
    await source('abandoned', 'basemap')
    await startScan(app.ctx.sql, 'abandoned')
    await source('other', 'basemap')
    await scan('other')
    const { items } = await get<{ items: Scan[] }>('/scan-sources/abandoned/scans')
    expect(items).toMatchObject([{ status: 'failed', message: expect.stringMatching(/stopped during this scan/) }])
  })

  test('a scan ended by the shutdown has failed, and its thread has ended', async () => {
    tree.put('stopped/v1/0/0/0.png', PIXEL)
    await source('stopped', 'basemap')
    const stop = new AbortController()
    const ctx = { ...app.ctx, shutdown: stop.signal }
    const run = runScan(ctx, { code: 'stopped', kind: 'basemap', path: tree.root })
    const row = () => app.ctx.sql`SELECT 1 FROM scans WHERE source_code = 'stopped' AND status = 'running'`
    await until(row)
    stop.abort()
    expect(await run).toMatchObject({
      scan: { status: 'failed', message: 'the control plane was stopped during this scan' },
    })
    expect(await basemap('stopped')).toBeUndefined()
  })
})

describe('an asynchronous scan', () => {
  let stop: AbortController
  let queue: Promise<void>
  beforeEach(() => {
    stop = new AbortController()
    queue = Promise.resolve()
  })
  afterEach(async () => {
    stop.abort()
    await queue
  })
  const startQueue = () => {
    queue = scanQueue.run({ ...app.ctx, shutdown: stop.signal })
  }
  const ended = (code: string) => async () =>
    (await get<{ items: Scan[] }>(`/scan-sources/${code}/scans`)).items.filter(({ status }) => status !== 'running')

  test('is queued once, and runs in its turn', async () => {
    tree.put('queued-map/v1/0/0/0.png', PIXEL)
    await source('queued-1', 'basemap')
    await source('queued-2', 'vector')
    for (const code of ['queued-1', 'queued-2', 'queued-1']) {
      const answer = await post(`/scan-sources/${code}/queue`)
      expect(answer.statusCode).toBe(202)
      expect(answer.json()).toMatchObject({ code, queued_at: expect.any(String) })
    }
    startQueue()
    for (const code of ['queued-1', 'queued-2']) await until(ended(code))
    const { items } = await get<{ items: Scan[] }>('/scan-sources/queued-1/scans')
    expect(items).toMatchObject([{ status: 'succeeded', added: 1 }])
    expect(items[0]?.steps).toBeGreaterThan(2)
    expect(await get('/scan-sources/queued-1')).toMatchObject({ queued_at: null })
  })

  test('can be cancelled while it waits, and while it runs', async () => {
    tree.put('cancelled.geojson', POINT)
    await source('cancelled', 'vector')
    expect((await post('/scan-sources/cancelled/cancel')).statusCode).toBe(409)
    await post('/scan-sources/cancelled/queue')
    expect((await post('/scan-sources/cancelled/cancel')).json()).toMatchObject({ queued_at: null, last_scan: null })

    const { ended } = await duringScan('cancelled', async () => {
      expect((await post('/scan-sources/cancelled/cancel')).statusCode).toBe(200)
    })
    expect(await ended).toMatchObject({ status: 'failed', cancelled: true, message: 'cancelled by token' })
    expect(await vectorsOf('cancelled')).toEqual([])
  })
})

test('the list of files that a scan left out can be searched', async () => {
  for (let i = 0; i < 30; i++) tree.put(`none-${i}/readme.txt`, 'x')
  await source('doubtful', 'basemap')
  const { id, warnings, status } = await scan('doubtful')
  expect({ warnings, status }).toEqual({ warnings: 30, status: 'succeeded' })
  const list = (query: string) => get(`/scan-sources/doubtful/scans/${id}/warnings${query}`)
  expect(await list('?limit=1')).toEqual({
    items: [
      {
        number: 1,
        message: '"none-0" holds no tile set',
        message_code: 'scan_no_tile_set',
        message_params: { folder: '"none-0"' },
      },
    ],
    total: 30,
  })
  expect(await list('?message_code=scan_no_tile_set')).toMatchObject({ total: 30 })
  expect(await list('?q=none-29')).toMatchObject({ total: 1 })
  const other = await app.admin({ url: `/api/v1/admin/scan-sources/other-source/scans/${id}/warnings` })
  expect(other.statusCode).toBe(404)
})

test('a scan can be tried before its source is saved, and changes nothing', async () => {
  tree.put('tried-map/v1/0/0/0.png', PIXEL)
  tree.put('notes/readme.txt', 'x')
  const tried = await post('/scan-sources/try', { kind: 'basemap', path: tree.root })
  expect(tried.json()).toEqual({
    added: 1,
    updated: 0,
    missing: 0,
    found: ['tried-map/v1'],
    lost: [],
    warnings: 1,
    messages: ['"notes" holds no tile set'],
    coded_messages: [
      {
        message: '"notes" holds no tile set',
        message_code: 'scan_no_tile_set',
        message_params: { folder: '"notes"' },
      },
    ],
    problem: null,
    problem_code: null,
    problem_params: null,
  })
  expect(await basemap('tried-map')).toBeUndefined()
  tree.put('roads.geojson', POINT)
  expect((await post('/scan-sources/try', { kind: 'vector', path: tree.root })).json()).toMatchObject({
    found: ['roads.geojson'],
  })
  expect((await post('/scan-sources/try', { kind: 'vector', path: tree.at('gone') })).json()).toMatchObject({
    added: 0,
    problem: expect.stringMatching(/gone is missing/),
  })
  await source('tried', 'basemap')
  await scan('tried')
  renameSync(tree.at('tried-map'), tree.at('.hidden'))
  expect((await post('/scan-sources/try', { code: 'tried', kind: 'basemap', path: tree.root })).json()).toMatchObject({
    added: 0,
    missing: 1,
    lost: ['tried-map/v1'],
  })
  expect(await basemap('tried-map')).toMatchObject({ versions: [{ available: true }] })
})

describe('scan sources', () => {
  test('are created, changed field by field, and keep their kind', async () => {
    await source('kept', 'basemap')
    expect(
      (
        await post('/scan-sources', { code: 'kept', kind: 'basemap', path: `${tree.root}/x/..//`, name: 'Kept' })
      ).json(),
    ).toEqual({
      code: 'kept',
      name: 'Kept',
      queued_at: null,
      kind: 'basemap',
      path: tree.root,
      enabled: true,
      publish: 'automatic',
      schedule: null,
      next_scan_at: null,
      watch: false,
      watch_problem: null,
      last_scan: null,
    })
    expect((await post('/scan-sources', { code: 'kept', kind: 'vector', path: tree.root })).statusCode).toBe(400)
    await post('/scan-sources', { code: 'kept', kind: 'basemap', path: tree.root, enabled: false })
    const refused = await post('/scan-sources/kept/run')
    expect([refused.statusCode, refused.json()]).toEqual([
      400,
      { error: 'this scan source is disabled; enable it first' },
    ])
    const told = { code: 'kept', kind: 'basemap', path: tree.root, name: null, enabled: null }
    expect((await post('/scan-sources', told)).json()).toMatchObject({ name: 'Kept', enabled: false })
  })

  test('with a new path make every edge reload the catalog', async () => {
    await source('moving', 'basemap')
    expect(await changesDuring(() => source('moving', 'basemap'))).toEqual([])
    expect(await changesDuring(() => source('moving', 'basemap', tree.at('elsewhere')))).toEqual(['all '])
  })

  test('with an unknown code return 404', async () => {
    expect((await post('/scan-sources/unknown/run')).statusCode).toBe(404)
    expect((await app.admin({ url: '/api/v1/admin/scan-sources/unknown/scans' })).statusCode).toBe(404)
  })

  test('have an audit entry for each change and each scan', async () => {
    await source('audited', 'basemap')
    await scan('audited')
    const rows = await app.ctx.sql`SELECT action, actor FROM audit WHERE subject = 'audited' ORDER BY id`
    expect([...rows]).toEqual([
      { action: 'scan-source.save', actor: 'token' },
      { action: 'scan-source.run', actor: 'token' },
    ])
  })
})

describe('the default version', () => {
  test('is the highest in natural order until an operator sets one', async () => {
    for (const version of ['v9', 'v10']) tree.put(`chosen/${version}/0/0/0.png`, PIXEL)
    await source('choosing', 'basemap')
    await scan('choosing')
    expect(await basemap('chosen')).toMatchObject({ default_version: 'v10' })
    const set = (code: string, version: string) => post(`/basemaps/${code}/default-version`, { version })
    expect((await set('chosen', 'v9')).json()).toMatchObject({ code: 'chosen', default_version: 'v9' })
    tree.put('chosen/v11/0/0/0.png', PIXEL)
    rmSync(tree.at('chosen/v10'), { recursive: true })
    await scan('choosing')
    expect(await basemap('chosen')).toMatchObject({ default_version: 'v9' })
    const statuses = await Promise.all(
      [
        ['chosen', 'current'],
        ['chosen', 'v10'],
        ['chosen', 'v12'],
        ['nowhere', 'v9'],
      ].map(async ([code, version]) => (await set(code as string, version as string)).statusCode),
    )
    expect(statuses).toEqual([400, 400, 404, 404])
  })
})
