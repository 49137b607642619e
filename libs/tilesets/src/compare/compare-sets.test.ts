import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { flipRow } from '../address.js'
import { writeMbtiles } from '../mbtiles/writer.js'
import { writePmtiles } from '../pmtiles/writer.js'
import { type ComparedSet, type CompareTask, compareSets, NotCompared, stepFor } from './compare-sets.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'compare-'))
})
afterEach(() => rmSync(root, { recursive: true }))

/** Contents by `z/x/y`. */
type Tiles = Readonly<Record<string, string | Buffer>>

async function stored(name: string, storage: ComparedSet['storage'], tiles: Tiles, more: Partial<ComparedSet> = {}) {
  const format = more.format ?? 'png'
  const file = path.join(root, name)
  const all = Object.entries(tiles).map(([address, content]) => {
    const [z, x, y] = address.split('/').map(Number) as [number, number, number]
    return { z, x, y, data: Buffer.from(content) }
  })
  const about = { format, bounds: [-180, -85, 180, 85] as const, metadata: {} }
  if (storage === 'mbtiles') await writeMbtiles(file, all, { ...about, bounds: [-180, -85, 180, 85], name })
  else if (storage === 'pmtiles')
    await writePmtiles(file, all, { ...about, bounds: [-180, -85, 180, 85], encoding: 'identity' })
  else
    for (const { z, x, y, data } of all) {
      mkdirSync(path.join(file, `${z}/${x}`), { recursive: true })
      writeFileSync(path.join(file, `${z}/${x}/${storage === 'tms' ? flipRow(z, y) : y}.${format}`), data)
    }
  const set: ComparedSet = {
    storage,
    format,
    path: file,
    root,
    extension: format,
    minZoom: 0,
    maxZoom: 1,
    bounds: null,
  }
  return { ...set, ...more }
}

function task(left: ComparedSet, right: ComparedSet, more: Partial<CompareTask> = {}): CompareTask {
  const all = { tileMatrixSet: 'WebMercatorQuad', minZoom: 0, maxZoom: 30, maxTiles: 1000, limitMs: 60_000 } as const
  return { left, right, ...all, ...more }
}

const OLD: Tiles = { '0/0/0': 'top', '1/0/0': 'same', '1/1/0': 'old', '1/0/1': 'gone' }
const NEW: Tiles = { '0/0/0': 'top', '1/0/0': 'same', '1/1/0': 'new', '1/1/1': 'added' }

test.each([
  ['xyz', 'tms'],
  ['mbtiles', 'pmtiles'],
  ['pmtiles', 'mbtiles'],
] as const)('comparing %s and %s lists the differing tiles and those of only one set', async (one, other) => {
  const left = await stored('left', one, OLD)
  const right = await stored('right', other, NEW)
  expect(await compareSets(task(left, right))).toEqual({
    complete: true,
    zooms: [
      { zoom: 0, addresses: 1, step: 1, compared: 1, same: 1, different: [], onlyLeft: [], onlyRight: [] },
      {
        zoom: 1,
        addresses: 4,
        step: 1,
        compared: 4,
        same: 1,
        different: [[1, 0]],
        onlyLeft: [[0, 1]],
        onlyRight: [[1, 1]],
      },
    ],
  })
})

test('vector tiles that differ only in compression are equal', async () => {
  const left = await stored('left', 'xyz', { '0/0/0': gzipSync('a tile', { level: 1 }) }, { format: 'pbf' })
  const right = await stored('right', 'mbtiles', { '0/0/0': 'a tile' }, { format: 'pbf' })
  const { zooms } = await compareSets(task(left, right, { maxZoom: 0 }))
  expect(zooms).toMatchObject([{ same: 1, different: [] }])
})

test('many addresses are sampled by a grid within the common bounds', async () => {
  const about = { minZoom: 8, maxZoom: 8 }
  const left = await stored('left', 'xyz', {}, { ...about, bounds: [-90, 10, 0, 60] })
  const right = await stored('right', 'xyz', { '8/127/80': 'here' }, { ...about, bounds: [-20, 0, 20, 60] })
  const { zooms } = await compareSets(task(left, right, { maxTiles: 100 }))
  expect(zooms).toMatchObject([{ zoom: 8, addresses: 79 * 54, step: 7, compared: 96 }])
  const all = await compareSets(task(left, right, { maxTiles: 10_000 }))
  expect(all.zooms).toMatchObject([{ step: 1, compared: 79 * 54, onlyRight: [[127, 80]] }])
})

test('after the time limit the partial result is returned', async () => {
  const [left, right] = [await stored('left', 'xyz', OLD), await stored('right', 'xyz', NEW)]
  let asked = 0
  // Zoom 0 and two addresses of zoom 1 are compared before the limit.
  const { complete, zooms } = await compareSets(task(left, right, { limitMs: 5 }), () => ++asked)
  expect([complete, zooms.map(({ compared }) => compared)]).toEqual([false, [1, 3]])
})

test('a version whose archive is missing is refused', async () => {
  const left = await stored('left', 'xyz', OLD)
  const right = { ...left, storage: 'mbtiles' as const, path: path.join(root, 'none.mbtiles') }
  await expect(compareSets(task(left, right))).rejects.toThrow(NotCompared)
})

test('a grid has a limited number of places, and at least one', () => {
  expect(stepFor(10, 10, 100)).toBe(1)
  expect(stepFor(10, 10, 99)).toBe(2)
  expect(stepFor(1000, 1, 10)).toBe(100)
  expect(stepFor(2 ** 26, 2 ** 26, 100)).toBe(Math.ceil(2 ** 26 / 10))
  expect(stepFor(5, 5, 0)).toBe(5)
})
