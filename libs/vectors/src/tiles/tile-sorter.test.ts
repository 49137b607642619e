import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { RECORD_HEAD } from './tile-records.js'
import { TileSorter } from './tile-sorter.js'

const folder = mkdtempSync(join(tmpdir(), 'sorter-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Returns fids by tile, of 5,000 records with 1 to 40 words after the head. */
function sorted(maxWords: number) {
  const sorter = new TileSorter(folder, maxWords)
  let seed = 7
  for (let fid = 0; fid < 5_000; fid++) {
    seed = (seed * 48271) % 2147483647
    const size = RECORD_HEAD + 1 + (seed % 40)
    const at = sorter.add(seed % 97, size)
    sorter.words[at] = size
    sorter.words[at + 1] = fid
  }
  const runs = readdirSync(folder).length
  const tiles = Array.from(sorter.tiles(), ({ tileId, words, offsets }) => ({
    tileId,
    fids: offsets.map((at) => words[at + 1]),
  }))
  return { runs, tiles }
}

test('records beyond the memory limit come by tile in the order of insertion, and leave no file', () => {
  const large = sorted(1e6)
  const small = sorted(20_000)
  expect([large.runs, small.runs > 3]).toEqual([0, true])
  expect(small.tiles).toEqual(large.tiles)
  expect(large.tiles.map(({ tileId }) => tileId)).toEqual([...Array(97).keys()])
  for (const { fids } of large.tiles) expect(fids).toEqual([...fids].sort((a, b) => Number(a) - Number(b)))
  expect(readdirSync(folder)).toEqual([])
})

test('a tile beyond the memory limit keeps its largest features', () => {
  const sorter = new TileSorter(folder, 20_000)
  for (let fid = 0; fid < 5_000; fid++) {
    const at = sorter.add(3, RECORD_HEAD)
    sorter.words[at] = RECORD_HEAD
    sorter.words[at + 1] = fid
    new Float32Array(sorter.words.buffer)[at + 4] = (fid * 7919) % 5_000
  }
  const [tile] = [...sorter.tiles()]
  const { words, offsets } = tile as NonNullable<typeof tile>
  const sizes = new Float32Array(words.buffer)
  expect(offsets.length).toBeGreaterThan(1_000)
  expect(offsets.length).toBeLessThan(5_000)
  expect(Math.max(...offsets.map((at) => sizes[at + 4] as number))).toBe(4_999)
})
