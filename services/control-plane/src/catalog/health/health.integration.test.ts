import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import type { AdminBasemap, Bounds } from '@gateway/contracts/basemap.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { startScan } from '@gateway/store/scan-sources.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { makeEndlessTable } from '@gateway/tilesets/testing/endless-archives.js'
import { POINTS_FGB } from '@gateway/vectors/formats/testing/flatgeobufs.js'
import { layer, makeGeopackage } from '@gateway/vectors/formats/testing/geopackages.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, PIXEL, POINT, type Tree } from '../scans/testing/trees.js'
import { checkFiles } from './check-files.js'
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

/** Runs the check; returns its count of missing objects, the available ones afterwards, and the logged changes. */
async function check() {
  const before = await currentState(app.ctx.sql)
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

test('nothing is missing and nothing changes if all files exist', async () => {
  expect(await check()).toEqual({ missing: [0, 0], available: ALL, changes: [] })
})

test('a missing file becomes unavailable, once, and available again when it is back', async () => {
  renameSync(tree.at('maps/world/v1'), tree.at('away'))
  renameSync(tree.at('shapes/a.geojson'), tree.at('shapes/away'))
  const gone = { missing: [1, 1], available: ['v2', 'v3', 'b'] }
  expect(await check()).toEqual({ ...gone, changes: ['basemap world', 'vector a'] })
  expect(await check()).toEqual({ ...gone, changes: [] })
  renameSync(tree.at('away'), tree.at('maps/world/v1'))
  renameSync(tree.at('shapes/away'), tree.at('shapes/a.geojson'))
  expect(await check()).toEqual({ missing: [0, 0], available: ALL, changes: ['basemap world', 'vector a'] })
})

test('an emptied folder, a link out of the source and a folder in place of a file count as missing', async () => {
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

test('a source that vanishes makes all of its objects unavailable, and its return restores them', async () => {
  renameSync(tree.at('maps'), tree.at('unmounted'))
  expect(await check()).toMatchObject({ missing: [3, 0], available: ['a', 'b'] })
  renameSync(tree.at('unmounted'), tree.at('maps'))
  expect(await check()).toMatchObject({ missing: [0, 0], available: ALL })
})

test('during a scan of the source, the check only counts and leaves changes to the scan', async () => {
  const { id } = await startScan(app.ctx.sql, 'maps')
  renameSync(tree.at('maps/world/v1'), tree.at('away'))
  expect(await check()).toEqual({ missing: [1, 0], available: ALL, changes: [] })
  renameSync(tree.at('away'), tree.at('maps/world/v1'))
  await app.ctx.sql`DELETE FROM scans WHERE id = ${id}`
})

test('a damaged file counts as missing, and the audit names it with the reason', async () => {
  const tiles = Array.from({ length: 64 }, (_, i) => ({ z: 3, x: i >> 3, y: i & 7, data: Buffer.alloc(500, i + 1) }))
  const bounds: Bounds = [-180, -85, 180, 85]
  const about = { name: 'a', format: 'png' as const, bounds, metadata: {} }
  await writeMbtiles(tree.at('maps/m.mbtiles'), tiles, about)
  await writePmtiles(tree.at('maps/p.pmtiles'), tiles, { ...about, encoding: 'identity' })
  tree.put('shapes/c.shp', Buffer.concat([Buffer.from('0000270a', 'hex'), Buffer.alloc(96)]))
  tree.put('shapes/f.fgb', POINTS_FGB)
  makeGeopackage(tree.at('shapes/g.gpkg'), layer('roads'))
  await scanned('maps', 'basemap')
  await scanned('shapes', 'vector')
  expect((await post('/health/check')).json()).toMatchObject({ versions_missing: 0, vectors_missing: 0 })
  for (const name of ['maps/m.mbtiles', 'maps/p.pmtiles']) truncateSync(tree.at(name), 3_000)
  truncateSync(tree.at('shapes/c.shp'), 10)
  truncateSync(tree.at('shapes/f.fgb'), 1_000)
  truncateSync(tree.at('shapes/g.gpkg'), 8_192)
  truncateSync(tree.at('shapes/a.geojson'), 20)
  expect((await post('/health/check')).json()).toMatchObject({ versions_missing: 2, vectors_missing: 4 })
  expect(await available()).toEqual(['v1', 'v2', 'v3', 'b'])
  const [row] = await app.ctx.sql`SELECT detail FROM audit ORDER BY id DESC LIMIT 1`
  expect(row?.detail.missing).toEqual([
    { kind: 'basemap', code: 'm', version: 'default', why: expect.stringContaining('cut off') },
    { kind: 'basemap', code: 'p', version: 'default', why: expect.stringContaining('beyond the end of the file') },
    { kind: 'vector', code: 'a', version: '', why: expect.stringContaining('cut off') },
    { kind: 'vector', code: 'c', version: '', why: expect.stringContaining('not a shapefile') },
    { kind: 'vector', code: 'f', version: '', why: expect.stringContaining('cut off') },
    { kind: 'vector', code: 'g', version: '', why: expect.stringContaining('cut off') },
  ])
  for (const name of ['maps/m.mbtiles', 'maps/p.pmtiles', 'shapes/c.shp', 'shapes/f.fgb', 'shapes/g.gpkg'])
    rmSync(tree.at(name))
  tree.put('shapes/a.geojson', POINT)
  await app.ctx.sql`DELETE FROM basemaps WHERE code IN ('m', 'p')`
  await app.ctx.sql`DELETE FROM vectors WHERE code IN ('c', 'f', 'g')`
  await scanned('shapes', 'vector')
})

test('an endless archive counts as unknown, and files next to it are checked', async () => {
  makeEndlessTable(tree.at('maps/endless.mbtiles'))
  const place = (path: string, is: Place['is']): Place => ({ root: tree.at('maps'), path: tree.at(path), is })
  const places = [place('maps/endless.mbtiles', 'archive'), place('maps/world/v1', 'tile tree')]
  const states = await checkFiles(places, new AbortController().signal)
  expect(states).toEqual([
    { presence: 'unknown', why: 'no answer within 5 s' },
    { presence: 'there', why: '' },
  ])
  rmSync(tree.at('maps/endless.mbtiles'))
})

test('the dashboard shows the result of the last check', async () => {
  const shown = async () => (await app.admin({ url: '/api/v1/admin/dashboard' })).json().health
  await app.ctx.sql`DELETE FROM audit`
  expect(await shown()).toBeNull()
  await post('/health/check')
  const last = (await post('/health/check')).json()
  await post('/tokens', { name: 'something else' })
  expect(await shown()).toEqual(last)
})

test('a check writes an audit entry', async () => {
  await check()
  const [row] = await app.ctx.sql`SELECT action, actor, detail FROM audit ORDER BY id DESC LIMIT 1`
  expect(row).toMatchObject({ action: 'health.check', actor: 'token', detail: { versions_checked: 3 } })
})

test('existing files are distinguished from missing ones, and the shutdown is not delayed', async () => {
  const place = (root: string, path: string): Place => ({ root: tree.at(root), path: tree.at(path), is: 'geojson' })
  const places = [place('shapes', 'shapes/a.geojson'), place('shapes', 'shapes/none'), place('maps', 'maps/none')]
  const never = new AbortController().signal
  expect((await checkFiles(places, never)).map(({ presence }) => presence)).toEqual(['there', 'gone', 'gone'])
  const stop = new AbortController()
  const looking = checkFiles(places, stop.signal)
  stop.abort(new Error('shutting down'))
  await expect(looking).rejects.toThrow()
})
