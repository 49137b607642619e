import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ProbeResult } from '../../probe/probe-result.js'
import { Prober } from '../../probe/prober.js'
import { makeTree, PIXEL, putManyTiles, type Tree } from '../testing/trees.js'
import { walkBasemaps } from './walk-basemaps.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

const tile = (path: string) => tree.put(path, PIXEL)

async function walk() {
  const { basemaps, uncertain, warnings } = await walkBasemaps(tree.root, () => {})
  const versions = basemaps.flatMap(({ code, versions }) =>
    versions.map((v) => `${code}/${v.version} ${v.storage} ${v.path.slice(tree.root.length + 1)}`),
  )
  return { versions, basemaps, uncertain, warnings: warnings.texts }
}

describe('layouts', () => {
  test('a folder of versions, and a folder that is its only version', async () => {
    tile('world/2024-01/0/0/0.png')
    tile('world/2024-02/3/1/2.png')
    tile('city/5/1/2.png')
    expect((await walk()).versions).toEqual([
      'city/default xyz city',
      'world/2024-01 xyz world/2024-01',
      'world/2024-02 xyz world/2024-02',
    ])
  })

  test('a label that could be a zoom level is a version if zoom folders lie below it', async () => {
    for (const version of ['1', '2', '2024']) tile(`world/${version}/0/0/0.png`)
    const { versions, warnings } = await walk()
    expect(versions).toEqual(['world/1 xyz world/1', 'world/2 xyz world/2', 'world/2024 xyz world/2024'])
    expect(warnings).toEqual([])
  })

  test('a metadata file next to the zoom folders sets the name and the TMS scheme', async () => {
    tile('world/v1/1/0/0.png')
    tree.put('world/v1/tilejson.json', '{"name": "Die Welt \\u0000", "scheme": "tms", "minzoom": 0, "maxzoom": 9}')
    // The zooms are those of the tiles.
    expect((await walk()).basemaps).toMatchObject([{ name: 'Die Welt', versions: [{ storage: 'tms', maxZoom: 1 }] }])
  })

  test('names in all scripts are codes unchanged', async () => {
    tile('世界 地图/первая/0/0/0.png')
    expect((await walk()).versions).toEqual(['世界 地图/первая xyz 世界 地图/первая'])
  })

  test('folders next to the zoom folders of a tree are neither versions nor reported', async () => {
    tile('city/5/1/2.png')
    tree.put('city/fonts/a.txt', '')
    expect(await walk()).toMatchObject({ versions: ['city/default xyz city'], warnings: [] })
  })
})

test('a file that breaks its reader stays unchanged, and does not end the scan of others', async () => {
  tile('world/v1/0/0/0.png')
  tile('city/v1/0/0/0.png')
  class Confused extends Prober {
    override probe(root: string, path: string, signal: AbortSignal): Promise<ProbeResult> {
      if (!path.includes('world')) return super.probe(root, path, signal)
      return Promise.resolve({ state: 'unreadable', why: 'its content could not be read: x' })
    }
  }
  const { basemaps, uncertain, warnings } = await walkBasemaps(tree.root, () => {}, { prober: new Confused() })
  expect(basemaps.map(({ code }) => code)).toEqual(['city'])
  expect(uncertain).toEqual([{ code: 'world', version: 'v1' }])
  expect(warnings.texts).toEqual(['"world/v1" stays as it was: its content could not be read: x'])
})

describe('names that are left out', () => {
  test('hidden names and those of tools, without a warning', async () => {
    for (const name of ['.hidden', '_tmp', 'lost+found']) tile(`${name}/v1/0/0/0.png`)
    for (const name of ['.staging-1', '_tmp']) tile(`world/${name}/0/0/0.png`)
    tile('world/v1/0/0/0.png')
    expect(await walk()).toMatchObject({ versions: ['world/v1 xyz world/v1'], warnings: [] })
  })

  test.each([
    ['*', 'v1', /^"\*" is left out/],
    ['world', 'current', /"world\/current" is left out: "current" is an alias/],
    ['world', '*', /^"\*" is left out/],
    ['a\nb', 'v1', /^"a\\nb" is left out/],
    ['a\\b', 'v1', /^"a\\\\b" is left out/],
    ['ö'.repeat(127), 'x'.repeat(201), /is left out: a code or version is one path segment of at most 200 characters/],
  ])('%j/%j, with a warning', async (code, version, warning) => {
    tile(`${code}/${version}/0/0/0.png`)
    const { versions, warnings } = await walk()
    expect(versions).toEqual([])
    expect(warnings).toContainEqual(expect.stringMatching(warning))
  })

  test('a name that is not UTF-8, with a warning', async () => {
    tile('ok/v1/0/0/0.png')
    mkdirSync(Buffer.concat([Buffer.from(`${tree.root}/bad-`), Buffer.from([0xff])]))
    expect(await walk()).toMatchObject({
      versions: ['ok/v1 xyz ok/v1'],
      warnings: [expect.stringMatching(/UTF-8/)],
    })
  })

  test('folders without tiles, and invalid archives, with a warning', async () => {
    tree.put('empty/readme.txt', '')
    mkdirSync(tree.at('hollow/v1/0/0'), { recursive: true })
    tree.put('torn.mbtiles', 'SQLite format 3\0 and then nothing of the kind')
    tree.put('torn.pmtiles', 'PMTiles?')
    const { versions, warnings } = await walk()
    expect(versions).toEqual([])
    expect(warnings.sort()).toEqual([
      '"empty" holds no tile set',
      '"hollow" holds no tile set',
      expect.stringMatching(/^"torn.mbtiles" cannot be served: /),
      expect.stringMatching(/^"torn.pmtiles" cannot be served: /),
    ])
  })

  test('the second of two equal versions, with a warning', async () => {
    tile('world/default/0/0/0.png')
    tile('world/0/0/0.png')
    const { versions, warnings } = await walk()
    expect(versions).toEqual(['world/default xyz world'])
    expect(warnings).toEqual(['"world/default" is left out: "world" is the same version'])
  })
})

describe('symbolic links', () => {
  test('within the source are followed', async () => {
    tile('world/2024/0/0/0.png')
    symlinkSync('2024', tree.at('world/newest'))
    symlinkSync('world', tree.at('alias'))
    expect((await walk()).versions).toEqual([
      'alias/2024 xyz alias/2024',
      'alias/newest xyz alias/newest',
      'world/2024 xyz world/2024',
      'world/newest xyz world/newest',
    ])
  })

  test('out of the source, broken and cyclic links are not, with a warning', async () => {
    const outside = makeTree()
    outside.put('v1/0/0/0.png', PIXEL)
    tile('world/v1/0/0/0.png')
    symlinkSync(outside.root, tree.at('escape'))
    symlinkSync(outside.at('v1'), tree.at('world/escape'))
    symlinkSync('gone', tree.at('nowhere'))
    symlinkSync('.', tree.at('self'))
    symlinkSync('..', tree.at('world/up'))
    symlinkSync('ring', tree.at('ring'))
    const { versions, warnings } = await walk()
    outside.remove()
    expect(versions).toEqual(['world/v1 xyz world/v1'])
    expect(warnings.map((text) => text.replace(/ is left out: it is a link that/, ''))).toEqual([
      '"escape" leads out of the source',
      '"nowhere" leads nowhere',
      '"ring" leads nowhere',
      '"self" leads back to itself',
      '"world/escape" leads out of the source',
      '"world/up" leads back to itself',
    ])
  })

  test('a source that is itself a link is walked under its own name', async () => {
    tile('maps/world/v1/0/0/0.png')
    symlinkSync('maps', tree.at('link'))
    const { basemaps } = await walkBasemaps(tree.at('link'), () => {})
    expect(basemaps[0]?.versions[0]?.path).toBe(tree.at('link/world/v1'))
  })
})

describe('an error is not an empty result', () => {
  test.each([
    ['is missing', () => tree.at('absent'), /ENOENT/],
    ['is a file', () => tree.at('file'), /is not a directory/],
  ])('a source that %s fails the walk', async (_, root, reason) => {
    tree.put('file', '')
    await expect(walkBasemaps(root(), () => {})).rejects.toThrow(reason)
  })

  test('a source that is replaced during the walk fails it', async () => {
    tile('maps/world/v1/0/0/0.png')
    let steps = 0
    const replace = () => {
      if (++steps !== 2) return
      renameSync(tree.at('maps'), tree.at('away'))
      mkdirSync(tree.at('maps'))
    }
    await expect(walkBasemaps(tree.at('maps'), replace)).rejects.toThrow(/was replaced or unmounted during the scan/)
  })

  test('a folder that disappears during the walk counts as missing', async () => {
    tile('a/v1/0/0/0.png')
    tile('b/v1/0/0/0.png')
    let steps = 0
    const remove = () => {
      if (++steps === 2) rmSync(tree.at('b'), { recursive: true })
    }
    expect((await walkBasemaps(tree.root, remove)).basemaps.map(({ code }) => code)).toEqual(['a'])
  })

  test('an empty source finds nothing, and suggests that the disk is not mounted', async () => {
    expect(await walk()).toMatchObject({ versions: [], warnings: [expect.stringMatching(/mounted/)] })
  })
})

test('40,000 tiles are one version, with their zooms and size', async () => {
  putManyTiles(tree, 'world/v1', 10, 200)
  const { basemaps } = await walk()
  expect(basemaps).toMatchObject([{ code: 'world', versions: [{ minZoom: 10, maxZoom: 10, tileSize: 1 }] }])
})
