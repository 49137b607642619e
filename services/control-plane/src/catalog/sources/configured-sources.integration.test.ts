import { existsSync } from 'node:fs'
import type { Settings } from '@gateway/core/settings/load.js'
import { readScanSources } from '@gateway/store/scan-sources.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, type Tree } from '../scans/testing/trees.js'
import { sourcesFromSettings } from './configured-sources.js'

let app: TestApp
let tree: Tree
beforeAll(async () => {
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
  tree = makeTree()
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function started(settings: Partial<Settings>) {
  const sliceOutputRoot = settings.sliceOutputRoot ?? tree.at('layers')
  const all = { ...app.ctx.settings, ...settings, sliceOutputRoot, sliceWorkRoot: sliceOutputRoot }
  const sources = await sourcesFromSettings(app.ctx.sql, all)
  return sources.map(({ code, kind, path }) => `${code} ${kind} ${path.slice(tree.root.length)}`)
}

const roots = ['a/maps', 'b/maps'].map((path) => (root: string) => `${root}/${path}`)

test('directories become sources named after them, and the source of the layers is created', async () => {
  const basemapRoots = roots.map((path) => path(tree.root))
  expect(await started({ basemapRoots, vectorRoots: [tree.at('c/maps')] })).toEqual([
    'layers basemap /layers',
    'maps basemap /a/maps',
    'maps-2 basemap /b/maps',
    'maps-3 vector /c/maps',
  ])
  expect(existsSync(tree.at('layers'))).toBe(true)
  expect(existsSync(tree.at('a/maps'))).toBe(false)
})

test('another order of the settings changes no code, and a disabled source stays disabled', async () => {
  await app.ctx.sql`UPDATE scan_sources SET enabled = false WHERE code = 'maps'`
  const basemapRoots = roots.map((path) => path(tree.root)).reverse()
  expect(await started({ basemapRoots })).toEqual([
    'layers basemap /layers',
    'maps-2 basemap /b/maps',
    'maps basemap /a/maps',
  ])
  expect(await readScanSources(app.ctx.sql, 'maps')).toMatchObject([{ enabled: false }])
})

test('the source of the layers keeps its code if SLICE_OUTPUT_ROOT moves, and exists only once', async () => {
  const sliceOutputRoot = tree.at('elsewhere/layers')
  expect(await started({ sliceOutputRoot, basemapRoots: [sliceOutputRoot] })).toEqual([
    'layers basemap /elsewhere/layers',
  ])
})
