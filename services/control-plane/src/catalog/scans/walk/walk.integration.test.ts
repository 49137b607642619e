import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { makeEndlessTable, makeEndlessView } from '@gateway/tilesets/testing/endless-archives.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Prober } from '../../probe/prober.js'
import { makeTree, PIXEL, POINT, type Tree } from '../testing/trees.js'
import { walk } from './walk.js'
import { walkBasemaps } from './walk-basemaps.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
  tree.put('world/v1/0/0/0.png', PIXEL)
  tree.put('a.geojson', POINT)
})
afterEach(() => tree.remove())

const never = new AbortController().signal

test('what is found in another process comes back whole', async () => {
  const basemaps = await walk({ kind: 'basemap', root: tree.root }, never)
  expect(basemaps.found).toMatchObject({
    basemaps: [{ code: 'world', versions: [{ version: 'v1' }] }],
    warnings: { total: 0 },
  })
  const vectors = await walk({ kind: 'vector', root: tree.root, known: new Map() }, never)
  expect(vectors.found).toMatchObject({ vectors: [{ relativePath: 'a.geojson', modifiedAt: expect.any(Date) }] })
})

test('a directory that cannot be walked is told in the words of whoever configured it', async () => {
  const missing = walk({ kind: 'basemap', root: tree.at('gone') }, never)
  await expect(missing).rejects.toThrow(`${tree.at('gone')} is not there: nothing was changed`)
  const file = walk({ kind: 'vector', root: tree.at('a.geojson'), known: new Map() }, never)
  await expect(file).rejects.toThrow(`${tree.at('a.geojson')} is not a directory`)
})

test('a walk without progress is given up', async () => {
  // No process starts within a millisecond.
  await expect(walk({ kind: 'basemap', root: tree.root }, never, { stalledMs: 1 })).rejects.toThrow(
    /does not answer: no progress for/,
  )
})

test('an archive that never ends is named, and the rest is found', async () => {
  makeEndlessTable(tree.at('endless.mbtiles'))
  makeEndlessView(tree.at('view.mbtiles'))
  spawnSync('mkfifo', [tree.at('fifo.mbtiles')])
  symlinkSync('/dev/zero', tree.at('zero.pmtiles'))
  tree.put('none.pmtiles', '')
  const { basemaps, uncertain, warnings } = await walkBasemaps(tree.root, () => {}, new Prober(3_000))
  expect(basemaps.map(({ code }) => code)).toEqual(['world'])
  expect(uncertain).toEqual([{ code: 'endless', version: 'default' }])
  expect(warnings.texts).toEqual([
    '"zero.pmtiles" is left out: it is a link that leads out of the source',
    expect.stringMatching(/^"endless.mbtiles" stays as it was: it could not be read within/),
    expect.stringMatching(/^"none.pmtiles" cannot be served/),
    expect.stringMatching(/^"view.mbtiles" cannot be served: the tiles are shown by a view/),
  ])
})

test('a walk ends with the signal', async () => {
  const stop = new AbortController()
  const walking = walk({ kind: 'basemap', root: tree.root }, stop.signal)
  stop.abort(new Error('the lock is lost'))
  await expect(walking).rejects.toThrow('the lock is lost')
})
