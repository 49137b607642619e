import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { makeEndlessTable, makeEndlessView, makeTableEndless } from '@gateway/tilesets/testing/endless-archives.js'
import { POINTS_FGB } from '@gateway/vectors/formats/testing/flatgeobufs.js'
import { layer, makeEndlessGeopackage, makeGeopackage } from '@gateway/vectors/formats/testing/geopackages.js'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Prober } from '../../probe/prober.js'
import { makeTree, PIXEL, POINT, type Tree } from '../testing/trees.js'
import { walk } from './walk.js'
import { walkBasemaps } from './walk-basemaps.js'
import { walkVectors } from './walk-vectors.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
  tree.put('world/v1/0/0/0.png', PIXEL)
  tree.put('a.geojson', POINT)
})
afterEach(() => tree.remove())

const never = new AbortController().signal

test('results from another process arrive complete', async () => {
  const basemaps = await walk({ kind: 'basemap', root: tree.root }, never)
  expect(basemaps.found).toMatchObject({
    basemaps: [{ code: 'world', versions: [{ version: 'v1' }] }],
    warnings: { coded: [{ code: 'scan_vector_in_basemap_source', params: { file: '"a.geojson"' } }] },
  })
  const vectors = await walk({ kind: 'vector', root: tree.root, known: new Map(), scratch: '/tmp' }, never)
  expect(vectors.found).toMatchObject({ vectors: [{ relativePath: 'a.geojson', modifiedAt: expect.any(Date) }] })
})

test('a directory that cannot be walked is reported by its configured path', async () => {
  const missing = walk({ kind: 'basemap', root: tree.at('gone') }, never)
  await expect(missing).rejects.toThrow(`${tree.at('gone')} is missing: nothing was changed`)
  const file = walk({ kind: 'vector', root: tree.at('a.geojson'), known: new Map(), scratch: '/tmp' }, never)
  await expect(file).rejects.toThrow(`${tree.at('a.geojson')} is not a directory`)
})

test('a walk without progress is aborted', async () => {
  // No process starts within a millisecond.
  await expect(walk({ kind: 'basemap', root: tree.root }, never, { stalledMs: 1 })).rejects.toThrow(
    /does not answer: no progress for/,
  )
})

test('an endless archive is named, and the rest is found', async () => {
  makeEndlessTable(tree.at('endless.mbtiles'))
  makeEndlessView(tree.at('view.mbtiles'))
  spawnSync('mkfifo', [tree.at('fifo.mbtiles')])
  symlinkSync('/dev/zero', tree.at('zero.pmtiles'))
  tree.put('none.pmtiles', '')
  const { basemaps, uncertain, warnings } = await walkBasemaps(tree.root, () => {}, { prober: new Prober(10_000) })
  expect(basemaps.map(({ code }) => code)).toEqual(['world'])
  expect(uncertain).toEqual([{ code: 'endless', version: 'default' }])
  expect(warnings.texts).toEqual([
    '"zero.pmtiles" is left out: it is a link that leads out of the source',
    '"a.geojson" is left out: it is vector data (GeoJSON); move it into a vector source',
    expect.stringMatching(/^"endless.mbtiles" stays as it was: it could not be read within/),
    expect.stringMatching(/^"none.pmtiles" cannot be served/),
    expect.stringMatching(/^"view.mbtiles" cannot be served: the tiles come from a view/),
  ])
})

test('GeoPackages and FlatGeobuf are found; an endless or locked one has no facts, and invalid ones are left out', async () => {
  makeGeopackage(tree.at('good.gpkg'), layer('roads'))
  makeEndlessGeopackage(tree.at('view.GPKG'))
  makeGeopackage(tree.at('endless.gpkg'), layer('roads'))
  makeTableEndless(tree.at('endless.gpkg'), 'roads')
  makeGeopackage(tree.at('locked.gpkg'), layer('roads'))
  const writer = new DatabaseSync(tree.at('locked.gpkg'))
  writer.exec('BEGIN EXCLUSIVE')
  makeGeopackage(tree.at('open.gpkg'), layer('roads'))
  const program = new DatabaseSync(tree.at('open.gpkg'))
  program.exec('PRAGMA journal_mode = WAL; DELETE FROM roads')
  tree.put('good.fgb', POINTS_FGB)
  tree.put('cut.fgb', POINTS_FGB.subarray(0, -1))
  tree.put('cut.gpkg', readFileSync(tree.at('good.gpkg')).subarray(0, 8192))
  tree.put('none.gpkg', 'hello')
  const { vectors, warnings } = await walkVectors(tree.root, new Map(), () => {}, { prober: new Prober(10_000) })
  writer.close()
  program.close()
  expect(vectors.map(({ relativePath, kind, facts }) => [relativePath, kind, facts?.feature_count ?? null])).toEqual([
    ['a.geojson', 'geojson', 1],
    ['endless.gpkg', 'geopackage', null],
    ['good.fgb', 'flatgeobuf', 3],
    ['good.gpkg', 'geopackage', 2],
    ['locked.gpkg', 'geopackage', null],
    ['open.gpkg', 'geopackage', 0],
    ['view.GPKG', 'geopackage', null],
  ])
  // Known facts prevent another read of a file; an unreadable file has none.
  expect(vectors.filter(({ facts }) => facts === null).map(({ relativePath }) => relativePath)).toEqual([
    'endless.gpkg',
    'locked.gpkg',
  ])
  expect(warnings.texts).toEqual([
    '"cut.fgb" is left out: it is cut off, or still being written',
    '"cut.gpkg" is left out: the file is cut off: it is shorter than its header says',
    expect.stringMatching(/^the properties of "endless.gpkg" are unknown: it could not be read within/),
    'the properties of "locked.gpkg" are unknown: another program has locked it',
    '"none.gpkg" is left out: this is not an SQLite database',
    '"open.gpkg" is open in another program: data that the program has not written yet is not served',
    '"world/v1/0/0/0.png" is left out: it holds tiles (PNG); move it into a basemap source',
  ])
})

test('the fonts of a style are not listed behind a link that leads out of the source', async () => {
  const outside = makeTree()
  outside.put('secret/0-255.pbf', '')
  tree.put('city/style.json', JSON.stringify({ version: 8, sources: {}, layers: [] }))
  symlinkSync(outside.root, tree.at('city/fonts'))
  const { found } = await walk({ kind: 'style', root: tree.root }, never)
  expect(found).toMatchObject({ styles: [{ code: 'city' }], fonts: [] })
  expect(JSON.stringify(found)).not.toContain('secret')
  outside.remove()
})

test('a walk ends with the signal', async () => {
  const stop = new AbortController()
  const walking = walk({ kind: 'basemap', root: tree.root }, stop.signal)
  stop.abort(new Error('the lock is lost'))
  await expect(walking).rejects.toThrow('the lock is lost')
})
