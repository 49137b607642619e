import { readdirSync } from 'node:fs'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runScan } from '../catalog/scans/run.js'
import { SCAN } from '../catalog/scans/scan-lock.js'
import { makeTree, PIXEL, type Tree } from '../catalog/scans/testing/trees.js'
import { sourcesFromSettings } from '../catalog/sources/configured-sources.js'
import { runElsewhere } from '../jobs/testing/run-elsewhere.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { removeOldVersions } from './retention.js'

let app: TestApp
let tree: Tree
let layers: ScanSource
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { SLICE_OUTPUT_ROOT: tree.root })
  layers = (await sourcesFromSettings(app.ctx.sql, app.ctx.settings))[0] as ScanSource
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function sliced(code: string): Promise<void> {
  for (let n = 1; n <= 8; n++) tree.put(`${code}/v${n}/0/0/0.png`, PIXEL)
  expect(await runScan(app.ctx, layers)).toMatchObject({ ok: true, scan: { status: 'succeeded', added: 8 } })
}

const known = async (code: string) =>
  (await readBasemap(app.ctx.sql, code))?.versions.map(({ version, available }) => `${version} ${available}`)

test('the last five versions of a layer stay; older ones leave disk and catalog, and no scan misses them', async () => {
  await sliced('city')
  await removeOldVersions(app.ctx, 'city')
  expect(readdirSync(tree.at('city'))).toEqual(['v4', 'v5', 'v6', 'v7', 'v8'])
  expect(await known('city')).toEqual(['v4 true', 'v5 true', 'v6 true', 'v7 true', 'v8 true'])
  expect(await runScan(app.ctx, layers)).toMatchObject({ scan: { added: 0, updated: 0, missing: 0 } })
})

test('the default version stays however old it is', async () => {
  await sliced('port')
  await app.ctx.sql`UPDATE basemaps SET default_version = 'v1' WHERE code = 'port'`
  await removeOldVersions(app.ctx, 'port')
  expect(readdirSync(tree.at('port'))).toEqual(['v1', 'v4', 'v5', 'v6', 'v7', 'v8'])
})

test('during a scan, which may have seen them before, they stay in the catalog as unavailable', async () => {
  await sliced('lake')
  const endScan = await runElsewhere(app.ctx.sql, SCAN)
  await removeOldVersions(app.ctx, 'lake')
  await endScan()
  expect(readdirSync(tree.at('lake'))).toHaveLength(5)
  expect((await known('lake'))?.slice(0, 4)).toEqual(['v1 false', 'v2 false', 'v3 false', 'v4 true'])
})
