import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { changesSince, currentRevision } from '@gateway/store/change-log.js'
import { startScan } from '@gateway/store/scan-sources.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTree, PIXEL, POINT, type Tree } from '../scans/testing/trees.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { lookAtAll } from './look.js'
import type { Place } from './place.js'

let app: TestApp
let tree: Tree
beforeAll(async () => {
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
  tree = makeTree()
  for (const version of ['v1', 'v2', 'v3']) tree.put(`maps/world/${version}/0/0/0.png`, PIXEL)
  tree.put('shapes/a.geojson', POINT)
  tree.put('shapes/b.geojson', POINT)
  await scanned('maps', 'basemap')
  await scanned('shapes', 'vector')
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

const post = (path: string, payload: object = {}) => app.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })

async function scanned(code: string, kind: string): Promise<void> {
  await post('/scan-sources', { code, kind, path: tree.at(code) })
  expect((await post(`/scan-sources/${code}/run`)).json()).toMatchObject({ status: 'succeeded' })
}

/** The check's counts of what is missing, what is available after it, and which changes it logged. */
async function check() {
  const before = await currentRevision(app.ctx.sql)
  const answer = await post('/health/check')
  expect(answer.statusCode).toBe(200)
  const { checked_at, versions_checked, versions_missing, vectors_checked, vectors_missing } = answer.json()
  expect([Number.isNaN(Date.parse(checked_at)), versions_checked, vectors_checked]).toEqual([false, 3, 2])
  const since = await changesSince(app.ctx.sql, before)
  return {
    missing: [versions_missing, vectors_missing],
    available: await available(),
    changes: since.covered ? since.changes.map(({ kind, key }) => `${kind} ${key}`) : [],
  }
}

async function available(): Promise<string[]> {
  const items = async <T>(path: string) =>
    (await app.admin({ url: `/api/v1/admin${path}` })).json<{ items: T[] }>().items
  const versions = (await items<AdminBasemap>('/basemaps')).flatMap((basemap) => basemap.versions)
  const vectors = await items<AdminVector>('/vectors')
  return [
    ...versions.filter((one) => one.available).map((one) => one.version),
    ...vectors.filter((one) => one.available).map((one) => one.code),
  ]
}

const ALL = ['v1', 'v2', 'v3', 'a', 'b']

test('where all is in place nothing is missing and nothing changes', async () => {
  expect(await check()).toEqual({ missing: [0, 0], available: ALL, changes: [] })
})

test('what is gone becomes unavailable, once, and available again when it is back', async () => {
  renameSync(tree.at('maps/world/v1'), tree.at('away'))
  renameSync(tree.at('shapes/a.geojson'), tree.at('shapes/away'))
  const gone = { missing: [1, 1], available: ['v2', 'v3', 'b'] }
  expect(await check()).toEqual({ ...gone, changes: ['basemap world', 'vector a'] })
  expect(await check()).toEqual({ ...gone, changes: [] })
  renameSync(tree.at('away'), tree.at('maps/world/v1'))
  renameSync(tree.at('shapes/away'), tree.at('shapes/a.geojson'))
  expect(await check()).toEqual({ missing: [0, 0], available: ALL, changes: ['basemap world', 'vector a'] })
})

test('an emptied folder, a link out of the source and a folder in place of a file are as good as gone', async () => {
  const outside = makeTree()
  outside.put('0/0/0.png', PIXEL)
  rmSync(tree.at('maps/world/v1/0'), { recursive: true })
  rmSync(tree.at('maps/world/v2'), { recursive: true })
  symlinkSync(outside.root, tree.at('maps/world/v2'))
  rmSync(tree.at('shapes/b.geojson'))
  mkdirSync(tree.at('shapes/b.geojson'))
  expect(await check()).toMatchObject({ missing: [2, 1], available: ['v3', 'a'] })
  outside.remove()
  rmSync(tree.at('maps/world/v2'))
  rmSync(tree.at('shapes/b.geojson'), { recursive: true })
  for (const version of ['v1', 'v2']) tree.put(`maps/world/${version}/0/0/0.png`, PIXEL)
  tree.put('shapes/b.geojson', POINT)
  expect(await check()).toMatchObject({ available: ALL })
})

test('a source that vanishes takes all that it holds with it, and brings it back', async () => {
  renameSync(tree.at('maps'), tree.at('unmounted'))
  expect(await check()).toMatchObject({ missing: [3, 0], available: ['a', 'b'] })
  renameSync(tree.at('unmounted'), tree.at('maps'))
  expect(await check()).toMatchObject({ missing: [0, 0], available: ALL })
})

test('while a scan of the source runs, the check counts and leaves the verdict to the scan', async () => {
  const { id } = await startScan(app.ctx.sql, 'maps')
  renameSync(tree.at('maps/world/v1'), tree.at('away'))
  expect(await check()).toEqual({ missing: [1, 0], available: ALL, changes: [] })
  renameSync(tree.at('away'), tree.at('maps/world/v1'))
  await app.ctx.sql`DELETE FROM scans WHERE id = ${id}`
})

test('the dashboard shows what the last check found', async () => {
  const shown = async () => (await app.admin({ url: '/api/v1/admin/dashboard' })).json().health
  await app.ctx.sql`DELETE FROM audit`
  expect(await shown()).toBeNull()
  await post('/health/check')
  const last = (await post('/health/check')).json()
  await post('/tokens', { name: 'something else' })
  expect(await shown()).toEqual(last)
})

test('a check leaves a row in the audit', async () => {
  await check()
  const [row] = await app.ctx.sql`SELECT action, actor, detail FROM audit ORDER BY id DESC LIMIT 1`
  expect(row).toMatchObject({ action: 'health.check', actor: 'token', detail: { versions_checked: 3 } })
})

test('what does not answer in time is unknown, and the shutdown is not held up', async () => {
  const place = (root: string, path: string): Place => ({ root: tree.at(root), path: tree.at(path), is: 'file' })
  const places = [place('shapes', 'shapes/a.geojson'), place('shapes', 'shapes/none'), place('maps', 'maps/none')]
  const never = new AbortController().signal
  expect(await lookAtAll(places, never)).toEqual(['there', 'gone', 'gone'])
  // No process starts within a millisecond.
  expect(await lookAtAll(places, never, 1)).toEqual(['unknown', 'unknown', 'unknown'])
  const stop = new AbortController()
  const looking = lookAtAll(places, stop.signal)
  stop.abort(new Error('shutting down'))
  await expect(looking).rejects.toThrow()
})
