import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeTree, POINT, type Tree } from '../testing/trees.js'
import type { KnownFiles } from './vector-walk.js'
import { walkVectors } from './walk-vectors.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

/** True: the reader of GeoJSON breaks. */
let isConfused = false
vi.mock('@gateway/vectors/formats/geojson.js', async (original) => {
  const module = await original<typeof import('@gateway/vectors/formats/geojson.js')>()
  const geojsonFacts: typeof module.geojsonFacts = (...args) => {
    if (isConfused) throw new RangeError('x')
    return module.geojsonFacts(...args)
  }
  return { ...module, geojsonFacts }
})

async function walk(known: KnownFiles = new Map()) {
  const { vectors, warnings } = await walkVectors(tree.root, known, () => {})
  return { vectors, paths: vectors.map((v) => v.relativePath).sort(), warnings: warnings.texts }
}

const knownAs = (path: string, fingerprint = ''): KnownFiles =>
  new Map([[path, { fingerprint, kind: path.endsWith('.shp') ? 'shapefile' : 'geojson', warnings: [] }]])

test('only GeoJSON and shapefiles are found, at any depth and in any case', async () => {
  tree.put('a.geojson', POINT)
  tree.put('deep/er/世界.JSON', POINT)
  tree.put('roads.SHP', 's')
  tree.put('roads.shx', 'x')
  tree.put('roads.DBF', 'd')
  tree.put('package.json', '{"name":"x","type":"module"}')
  tree.put('.hidden/a.geojson', POINT)
  tree.put('_tmp/a.geojson', POINT)
  tree.put('notes.txt', POINT)
  expect(await walk()).toMatchObject({ paths: ['a.geojson', 'deep/er/世界.JSON', 'roads.SHP'], warnings: [] })
})

test('a file that breaks its reader has no facts, and does not end the scan of others', async () => {
  tree.put('a.geojson', POINT)
  tree.put('roads.shp', 's')
  isConfused = true
  const { vectors, warnings } = await walk()
  isConfused = false
  expect(vectors.map(({ relativePath, facts }) => [relativePath, facts === null])).toEqual([
    ['a.geojson', true],
    ['roads.shp', false],
  ])
  expect(warnings).toContain('the properties of "a.geojson" are unknown: its content could not be read: x')
})

describe('a shapefile', () => {
  beforeEach(() => {
    for (const [extension, content] of [
      ['shp', '1234'],
      ['shx', '12'],
      ['dbf', '123'],
      ['prj', '1'],
      ['shp.xml', '12345'],
    ]) {
      tree.put(`s/roads.${extension}`, content as string)
    }
    tree.put('s/roads.txt', 'not a part')
    tree.put('s/roads-north.dbf', 'of another')
  })

  test('has the size of all its parts, and the time of the newest', async () => {
    utimesSync(tree.at('s/roads.prj'), 2e9, 2e9)
    expect((await walk()).vectors).toMatchObject([
      { relativePath: 's/roads.shp', name: 'roads', kind: 'shapefile', size: 15, modifiedAt: new Date(2e12) },
    ])
  })

  test('changes once a part is written, replaced, added or removed', async () => {
    const fingerprint = async () => (await walk()).vectors[0]?.fingerprint
    const seen = [await fingerprint()]
    expect(await fingerprint()).toBe(seen[0])
    tree.put('s/roads.dbf', '321')
    seen.push(await fingerprint())
    tree.put('s/roads.cpg', 'UTF-8')
    seen.push(await fingerprint())
    rmSync(tree.at('s/roads.prj'))
    seen.push(await fingerprint())
    expect(new Set(seen).size).toBe(4)
  })

  test('is not read again if it is known and unchanged', async () => {
    const [known] = (await walk()).vectors
    expect((await walk(knownAs('s/roads.shp', known?.fingerprint))).vectors[0]?.facts).toBeNull()
    expect((await walk(knownAs('s/roads.shp', 'another state'))).vectors[0]?.facts).toMatchObject({ crs: null })
  })

  test('without its index or table is still listed, with a warning', async () => {
    rmSync(tree.at('s/roads.shx'))
    rmSync(tree.at('s/roads.dbf'))
    expect(await walk()).toMatchObject({
      paths: ['s/roads.shp'],
      warnings: [
        '"s/roads.shp" lacks its .shx and .dbf',
        '"s/roads-north.dbf" is left out: it is a part of a shapefile whose .shp is missing',
      ],
    })
  })
})

test('an invalid or incomplete .geojson is left out with a warning', async () => {
  tree.put('a.geojson', 'hello')
  tree.put('b.json', POINT.slice(0, -1))
  expect(await walk()).toMatchObject({
    paths: [],
    warnings: [
      '"a.geojson" is left out: it is not GeoJSON',
      expect.stringMatching(/"b.json" is left out: it is cut off/),
    ],
  })
})

test('a known and unchanged file is not read again', async () => {
  tree.put('a.json', POINT)
  const [known] = (await walk()).vectors
  // The content is no longer GeoJSON, but its fingerprint is unchanged.
  const fingerprints = knownAs('a.json', known?.fingerprint)
  const read: string[] = []
  const unread = await walkVectors(tree.root, fingerprints, () => read.push(''))
  expect([known?.facts?.geometry_type, unread.vectors[0]?.facts]).toEqual(['Point', null])
  const readAll: string[] = []
  await walkVectors(tree.root, new Map(), () => readAll.push(''))
  // Both ends of it, and the only piece of it: once for its encoding, and once for its features.
  expect(readAll.length - read.length).toBe(3)
})

describe('symbolic links', () => {
  test('a folder behind a link within the source has its own paths and those of the link', async () => {
    tree.put('zones/a.geojson', POINT)
    symlinkSync('zones', tree.at('latest'))
    symlinkSync('zones/a.geojson', tree.at('a.geojson'))
    expect((await walk()).paths).toEqual(['a.geojson', 'latest/a.geojson', 'zones/a.geojson'])
  })

  test('cycles end, and links out of the source are not followed', async () => {
    const outside = makeTree()
    outside.put('secret.geojson', POINT)
    tree.put('a/x.geojson', POINT)
    tree.put('b/y.geojson', POINT)
    symlinkSync('../b', tree.at('a/to-b'))
    symlinkSync('../a', tree.at('b/to-a'))
    symlinkSync('.', tree.at('self'))
    symlinkSync('..', tree.at('a/up'))
    symlinkSync(outside.root, tree.at('escape'))
    symlinkSync(outside.at('secret.geojson'), tree.at('secret.geojson'))
    const { paths, warnings } = await walk()
    outside.remove()
    expect(paths).toEqual(['a/to-b/y.geojson', 'a/x.geojson', 'b/to-a/x.geojson', 'b/y.geojson'])
    expect(warnings.filter((text) => text.includes('leads out of the source'))).toHaveLength(2)
  })
})

test('a path with control characters or backslashes is left out with a warning', async () => {
  tree.put('a\tb.geojson', POINT)
  tree.put('c\\d/e.geojson', POINT)
  expect(await walk()).toMatchObject({
    paths: [],
    warnings: [/control/, /backslash/].map((text) => expect.stringMatching(text)),
  })
})

test('a missing source fails the walk', async () => {
  await expect(walkVectors(tree.at('absent'), new Map(), () => {})).rejects.toThrow(/ENOENT/)
})

test('very many warnings are counted, and only the first ones kept', async () => {
  mkdirSync(tree.at('w'))
  for (let i = 0; i < 1100; i++) tree.put(`w/${i}.geojson`, '')
  const { warnings } = await walkVectors(tree.root, new Map(), () => {})
  expect(warnings.total).toBe(1100)
  expect(warnings.texts).toHaveLength(1000)
})
