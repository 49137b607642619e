import { renameSync, rmSync } from 'node:fs'
import { queueScan, readScans } from '@gateway/store/scan-sources.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestApp, type TestApp } from '../../../testing/test-app.js'
import { scanQueue } from '../queue.js'
import { makeTree, PIXEL, POINT, type Tree } from '../testing/trees.js'

let app: TestApp
let tree: Tree
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
  for (const path of ['world/v1', 'world/v2', 'city/v1']) tree.put(`maps/${path}/0/0/0.png`, PIXEL)
  for (const path of ['a.geojson', 'roads/b.geojson', 'roads/c.geojson']) tree.put(`files/${path}`, POINT)
  for (const [code, kind] of [
    ['maps', 'basemap'],
    ['files', 'vector'],
  ] as const)
    await app.admin({
      method: 'POST',
      url: '/api/v1/admin/scan-sources',
      payload: { code, kind, path: tree.at(code) },
    })
  await scanned('maps', null)
  await scanned('files', null)
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

/** Runs a scan through the queue and answers its record. */
async function scanned(source: string, changed: readonly string[] | null) {
  const before = (await readScans(app.ctx.sql, source)).length
  await queueScan(app.ctx.sql, source, 'watch', changed)
  const stop = new AbortController()
  const running = scanQueue.run({ ...app.ctx, shutdown: stop.signal })
  const ended = async () => (await readScans(app.ctx.sql, source)).filter(({ status }) => status !== 'running').length
  await vi.waitFor(async () => expect(await ended()).toBeGreaterThan(before), { timeout: 90_000 })
  stop.abort()
  await running
  const [{ status, reason, added, updated, missing, changed: paths } = {} as never] = await readScans(
    app.ctx.sql,
    source,
  )
  return { status, reason, added, updated, missing, changed: paths }
}

/** The versions, or vectors, that are available. */
async function available(kind: 'basemaps' | 'vectors'): Promise<string[]> {
  const { items } = (await app.admin({ method: 'GET', url: `/api/v1/admin/${kind}` })).json()
  type Item = { code: string; available?: boolean; versions?: { version: string; available: boolean }[] }
  return (items as Item[]).flatMap(({ code, available, versions }) =>
    versions === undefined
      ? available
        ? [code]
        : []
      : versions.filter((one) => one.available).map(({ version }) => `${code}/${version}`),
  )
}

test('a scan of one changed version finds it, and leaves all others as they are known', async () => {
  tree.put('maps/world/v3/1/0/0.png', PIXEL)
  rmSync(tree.at('maps/world/v1'), { recursive: true })
  rmSync(tree.at('maps/city'), { recursive: true })
  const changed = ['world/v3']
  expect(await scanned('maps', changed)).toMatchObject({ status: 'succeeded', reason: 'watch', added: 1, changed })
  // The listing of the folder that changed has shown that v1 is gone; nobody has looked for the city.
  expect(await available('basemaps')).toEqual(['city/v1', 'world/v2', 'world/v3'])
  expect(await scanned('maps', ['city'])).toMatchObject({ added: 0, missing: 1 })
  expect(await available('basemaps')).toEqual(['world/v2', 'world/v3'])
})

test('a renamed archive moves from one basemap to another', async () => {
  renameSync(tree.at('maps/world/v3'), tree.at('maps/town'))
  expect(await scanned('maps', ['town', 'world/v3'])).toMatchObject({ added: 1, missing: 2 })
  expect(await available('basemaps')).toEqual(['town/default', 'world/v2'])
})

test('a scan of changed files finds them, their folders and the parts of a Shapefile, and misses nothing else', async () => {
  tree.put('files/d.geojson', POINT)
  tree.put('files/more/e.geojson', POINT)
  rmSync(tree.at('files/a.geojson'))
  rmSync(tree.at('files/roads/b.geojson'))
  const changed = ['a.geojson', 'd.geojson', 'more', 'more/e.geojson']
  expect(await scanned('files', changed)).toMatchObject({ status: 'succeeded', added: 2, missing: 1 })
  expect(await available('vectors')).toEqual(['d', 'more-e', 'roads-b', 'roads-c'])
  rmSync(tree.at('files/roads'), { recursive: true })
  expect(await scanned('files', ['roads'])).toMatchObject({ added: 0, missing: 2 })
  expect(await available('vectors')).toEqual(['d', 'more-e'])
})

test('a new file whose code is taken gets a suffix, though the other one was not looked at', async () => {
  tree.put('files/more-e.geojson', POINT)
  expect(await scanned('files', ['more-e.geojson'])).toMatchObject({ added: 1 })
  expect(await available('vectors')).toEqual(['d', 'more-e', 'more-e-2'])
})

test('a scan of everything that joins one of changes in the queue is one scan of everything', async () => {
  await queueScan(app.ctx.sql, 'files', 'watch', ['d.geojson'])
  await queueScan(app.ctx.sql, 'files', 'watch', ['x.geojson', 'd.geojson'])
  const [waiting] = await app.ctx.sql`SELECT changed FROM scan_queue WHERE source_code = 'files'`
  expect([...(waiting as { changed: string[] }).changed].sort()).toEqual(['d.geojson', 'x.geojson'])
  expect(await scanned('files', null)).toMatchObject({ changed: null, missing: 3 })
})

test('everything is scanned after a scan of changes that failed', async () => {
  renameSync(tree.at('files'), tree.at('away'))
  await scanned('files', ['d.geojson'])
  renameSync(tree.at('away'), tree.at('files'))
  const waits = await app.ctx.sql`SELECT FROM scan_queue WHERE source_code = 'files' AND changed IS NULL`
  const failed = (await readScans(app.ctx.sql, 'files')).filter(({ status }) => status === 'failed')
  // The queue may have begun the scan of everything, too, which has failed then.
  expect([failed.at(-1)?.changed, waits.length + failed.length]).toEqual([['d.geojson'], 2])
})
