import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeMbtiles } from '../mbtiles/writer.js'
import { writePmtiles } from '../pmtiles/writer.js'
import { TILE_MATRIX_SETS, tileTouches } from '../tile-matrix-sets.js'
import { changedTiles } from './changed-tiles.js'
import type { ComparedSet } from './compare-sets.js'
import type { TileChange } from './join-tiles.js'

type Tiles = ReadonlyMap<string, string>
const WORLD: Bounds = [-180, -85, 180, 85]
let root: string
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'changes-'))
})
afterAll(() => rmSync(root, { recursive: true }))

/** Returns the same sequence in every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function tilesOf(next: () => number, columns = 1): Tiles {
  const tiles = new Map<string, string>()
  for (let z = 0; z <= 4; z++)
    for (let x = 0; x < 2 ** z * columns; x++)
      for (let y = 0; y < 2 ** z; y++) {
        const kind = next()
        if (kind < 0.7) tiles.set(`${z}/${x}/${y}`, kind < 0.4 ? 'sea' : `${z}/${x}/${y} ${Math.floor(next() * 3)}`)
      }
  return tiles
}

let sets = 0
async function stored(storage: ComparedSet['storage'], tiles: Tiles, format: TileFormat = 'png'): Promise<ComparedSet> {
  const file = path.join(root, `${sets++}.${storage}`)
  const list = [...tiles].map(([place, text]) => {
    const [z = 0, x = 0, y = 0] = place.split('/').map(Number)
    return { z, x, y, data: format === 'pbf' ? gzipSync(text, { level: sets % 9 }) : Buffer.from(text) }
  })
  const about = { format, bounds: WORLD, metadata: {} } as const
  if (storage === 'mbtiles') await writeMbtiles(file, list, { ...about, name: 'set' })
  else if (storage === 'pmtiles')
    await writePmtiles(file, list, { ...about, encoding: format === 'pbf' ? 'gzip' : 'identity' })
  else
    for (const { z, x, y, data } of list) {
      mkdirSync(path.join(file, `${z}/${x}`), { recursive: true })
      writeFileSync(path.join(file, `${z}/${x}/${storage === 'tms' ? 2 ** z - 1 - y : y}.${format}`), data)
    }
  return {
    storage,
    format,
    path: file,
    root,
    extension: format,
    rowsFromNorth: false,
    minZoom: 0,
    maxZoom: 4,
    bounds: null,
  }
}

/** Computes the differences by comparing each address of two maps. */
function expected(left: Tiles, right: Tiles, columns = 1): string[] {
  const changes: string[] = []
  for (let z = 0; z <= 4; z++)
    for (let x = 0; x < 2 ** z * columns; x++)
      for (let y = 0; y < 2 ** z; y++) {
        const [one, other] = [left.get(`${z}/${x}/${y}`), right.get(`${z}/${x}/${y}`)]
        if (one === other) continue
        const change: TileChange = one === undefined ? 'added' : other === undefined ? 'removed' : 'changed'
        changes.push(`${z}/${x}/${y} ${change}`)
      }
  return changes
}

async function found(task: Parameters<typeof changedTiles>[0], sortedAtOnce?: number): Promise<string[]> {
  const changes: string[] = []
  for await (const { z, x, y, change } of changedTiles(task, sortedAtOnce)) changes.push(`${z}/${x}/${y} ${change}`)
  return changes
}

test.each([
  ['pmtiles', 'pmtiles'],
  ['xyz', 'pmtiles'],
  ['mbtiles', 'tms'],
  ['pmtiles', 'mbtiles'],
  ['tms', 'xyz'],
] as const)('differences between %s and %s are listed by zoom, column and row, also in parts', async (one, other) => {
  const next = random(one.length * 7 + other.length)
  const [before, after] = [tilesOf(next), tilesOf(next)]
  const task = { tileMatrixSet: 'WebMercatorQuad', area: null } as const
  const [left, right] = [await stored(one, before), await stored(other, after)]
  const all = expected(before, after)
  expect(all.length).toBeGreaterThan(100)
  expect(await found({ ...task, left, right })).toEqual(all)
  expect(await found({ ...task, left, right }, 40)).toEqual(all)
  expect(await found({ ...task, left, right: left })).toEqual([])
  const area: Bounds = [170, -20, -100, 50]
  const touching = all.filter((line) => {
    const [z = 0, x = 0, y = 0] = line.split(/[/ ]/).map(Number)
    return tileTouches(TILE_MATRIX_SETS.WebMercatorQuad, { z, x, y }, area)
  })
  expect(await found({ ...task, left, right, area })).toEqual(touching)
})

test('vector tiles that differ only in compression are equal', async () => {
  const before = tilesOf(random(5))
  const after = new Map([...before, ['4/3/3', 'another']])
  const task = { tileMatrixSet: 'WebMercatorQuad', area: null } as const
  const [left, right] = [await stored('xyz', before, 'pbf'), await stored('pmtiles', after, 'pbf')]
  expect(await found({ ...task, left, right })).toEqual(expected(before, after))
})

test('sets in a geographic grid are compared as well', async () => {
  const next = random(9)
  const [before, after] = [tilesOf(next, 2), tilesOf(next, 2)]
  const [left, right] = [await stored('xyz', before), await stored('mbtiles', after)]
  const changes = await found({ left, right, tileMatrixSet: 'WorldCRS84Quad', area: null })
  expect(changes).toEqual(expected(before, after, 2))
})

test('folders of many columns are compared in threads, in the same order', async () => {
  const versionOf = (version: number): Tiles => {
    const tiles = new Map<string, string>()
    for (let x = 0; x < 150; x++)
      for (let y = 0; y < 4; y++) tiles.set(`8/${x}/${y}`, `${x} ${y} ${(x + y) % 10 === 0 ? version : ''}`)
    tiles.delete(`8/${version * 20}/1`)
    return tiles
  }
  const [before, after] = [versionOf(1), versionOf(2)]
  const grid = { tileMatrixSet: 'WebMercatorQuad', area: null } as const
  const deep = { minZoom: 8, maxZoom: 8 }
  const [left, right] = [await stored('xyz', before), await stored('tms', after)]
  const changes = await found({ ...grid, left: { ...left, ...deep }, right: { ...right, ...deep } })
  const all = [...before.keys()].flatMap((place) => {
    const [, x = 0, y = 0] = place.split('/').map(Number)
    if (place === '8/40/1') return ['8/40/1 removed']
    if (place === '8/20/1') return []
    return (x + y) % 10 === 0 ? [`8/${x}/${y} changed`] : []
  })
  expect(changes).toEqual([
    ...all.slice(0, all.indexOf('8/20/0 changed') + 1),
    '8/20/1 added',
    ...all.slice(all.indexOf('8/20/0 changed') + 1),
  ])
})

test('links, empty files, large tiles and folders in place of tiles are compared by what a reader gets', async () => {
  const large = Buffer.alloc(200_000, 'large')
  const tiles = new Map(
    ['0/0/0', '1/0/0', '1/0/1', '1/1/0', '1/1/1', '2/0/0', '2/0/1', '2/0/2', '2/0/3'].map((p) => [p, p]),
  )
  const [left, right] = [await stored('xyz', tiles), await stored('xyz', tiles)]
  const file = (set: ComparedSet, place: string) => path.join(set.path, `${place}.png`)
  const replace = (set: ComparedSet, place: string, make: (file: string) => void) => {
    rmSync(file(set, place))
    make(file(set, place))
  }
  // The same file, by a hard link.
  replace(right, '0/0/0', (to) => linkSync(file(left, '0/0/0'), to))
  // A link to another tile of the source, and one that leads out of it.
  replace(right, '1/0/0', (to) => symlinkSync(file(left, '1/0/0'), to))
  replace(right, '1/0/1', (to) => symlinkSync(file(left, '1/1/1'), to))
  replace(right, '1/1/0', (to) => symlinkSync('/etc/hostname', to))
  replace(right, '1/1/1', (to) => writeFileSync(to, ''))
  replace(right, '2/0/0', (to) => mkdirSync(to))
  for (const set of [left, right]) writeFileSync(file(set, '2/0/1'), large)
  writeFileSync(file(left, '2/0/2'), large)
  writeFileSync(file(right, '2/0/2'), Buffer.from(large).fill('x', 150_000, 150_001))
  writeFileSync(file(left, '2/0/3'), '')
  const task = { tileMatrixSet: 'WebMercatorQuad', area: null, left, right } as const
  expect(await found(task)).toEqual([
    '1/0/1 changed',
    '1/1/0 removed',
    '1/1/1 removed',
    '2/0/0 removed',
    '2/0/2 changed',
    '2/0/3 added',
  ])
  // A column that leads out of the source has no tiles.
  symlinkSync('/etc', path.join(right.path, '2/1'))
  expect((await found(task)).length).toBe(6)
})
