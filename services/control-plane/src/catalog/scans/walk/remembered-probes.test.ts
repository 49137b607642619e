import { readdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blockWhileFast } from '@gateway/core/files/paced-calls.js'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { ProbeResult } from '../../probe/probe-result.js'
import { Prober } from '../../probe/prober.js'
import { makeTree, PIXEL, type Tree } from '../testing/trees.js'
import { stampOf } from './folder-stamp.js'
import { walkBasemaps } from './walk-basemaps.js'

let tree: Tree
let memory: Tree
beforeEach(() => {
  tree = makeTree()
  memory = makeTree()
  for (const version of ['world/v1', 'world/v2', 'city/v1']) {
    tree.put(`${version}/3/1/2.png`, PIXEL)
    tree.put(`${version}/3/2/2.png`, PIXEL)
    tree.put(`${version}/4/1/2.png`, PIXEL)
  }
  tree.put('world/v1/tilejson.json', '{"name": "before"}')
  age()
})
afterEach(() => {
  tree.remove()
  memory.remove()
})

/** Everything in the tree has rested: the walk trusts its times. A change time cannot be set, so the clock of the walk goes ahead. */
const RESTED_MS = 60_000
function age(): void {
  for (const { parentPath, name } of readdirSync(tree.root, { recursive: true, withFileTypes: true }))
    utimesSync(join(parentPath, name), 1.7e9, 1.7e9)
}

async function walk(clockMs = RESTED_MS) {
  const probed: string[] = []
  class Counting extends Prober {
    override probe(root: string, path: string, signal: AbortSignal): Promise<ProbeResult> {
      probed.push(path.slice(tree.root.length + 1))
      return super.probe(root, path, signal)
    }
  }
  const real = Date.now
  Date.now = () => real() + clockMs
  try {
    const { basemaps } = await walkBasemaps(tree.root, () => {}, {
      prober: new Counting(),
      memoryFile: memory.at('source.json'),
    })
    return { probed: probed.sort(), basemaps }
  } finally {
    Date.now = real
  }
}

const ALL = ['city/v1', 'world/v1', 'world/v2']

test('a walk that finds nothing new probes nothing, and finds the same', async () => {
  const first = await walk()
  expect(first.probed).toEqual(ALL)
  const again = await walk()
  expect(again.probed).toEqual([])
  expect(again.basemaps).toEqual(first.basemaps)
  expect((await walk()).probed).toEqual([])
})

test.each<[string, () => unknown]>([
  ['a tile in a new column', () => tree.put('world/v1/4/7/1.png', PIXEL)],
  ['a tile in a column that was there', () => tree.put('world/v1/3/1/3.png', PIXEL)],
  ['a new zoom', () => tree.put('world/v1/9/1/1.png', PIXEL)],
  [
    'a metadata file that is edited in place',
    () => writeFileSync(tree.at('world/v1/tilejson.json'), '{"name": "after!"}'),
  ],
  ['a new metadata file', () => tree.put('world/v1/metadata.json', '{"attribution": "me"}')],
  [
    'another folder in its place',
    () => {
      renameSync(tree.at('world/v1'), tree.at('.old'))
      tree.put('world/v1/3/1/2.png', PIXEL)
    },
  ],
  [
    'a tile renamed into place',
    () => {
      tree.put('.new.png', PIXEL)
      renameSync(tree.at('.new.png'), tree.at('world/v1/3/2/2.png'))
    },
  ],
])('%s is noticed', async (_, change) => {
  await walk()
  await change()
  expect((await walk()).probed).toEqual(['world/v1'])
  expect((await walk()).probed).toEqual([])
})

test('all tiles of a folder that are rewritten in place in another size are noticed by the one that is looked at', async () => {
  await walk()
  // Only the header says how large the image is (PNG specification, IHDR).
  const tile = Buffer.from(PIXEL)
  for (const at of [16, 20]) tile.writeUInt32BE(512, at)
  for (const path of ['3/1/2', '3/2/2', '4/1/2']) writeFileSync(tree.at(`world/v1/${path}.png`), tile)
  const { probed, basemaps } = await walk()
  expect(probed).toEqual(['world/v1'])
  const [version] = basemaps.find(({ code }) => code === 'world')?.versions ?? []
  expect(version).toMatchObject({ version: 'v1', tileSize: 512 })
})

test('what changed while or just before it was probed is probed by the next walk, too', async () => {
  await walk()
  tree.put('world/v1/9/1/1.png', PIXEL)
  expect((await walk(0)).probed).toEqual(['world/v1'])
  expect((await walk()).probed).toEqual(['world/v1'])
  expect((await walk()).probed).toEqual([])
})

test('a memory that is broken, or of another place, counts for nothing', async () => {
  await walk()
  const kept = readFileSync(memory.at('source.json'), 'utf8')
  for (const content of [kept.slice(0, -9), kept.replace(JSON.stringify(tree.root), '"/elsewhere"'), '[]']) {
    writeFileSync(memory.at('source.json'), content)
    expect((await walk()).probed).toEqual(ALL)
  }
})

test('folders that hold links are looked at each time: where they lead may change', async () => {
  symlinkSync(tree.at('city/v1/3'), tree.at('world/v2/5'))
  await walk()
  expect((await walk()).probed).toEqual(['world/v2'])
})

test('a stamp is the same through threads', async () => {
  const later = await Promise.all(ALL.map((version) => stampOf(tree.at(version))))
  blockWhileFast()
  onTestFinished(() => blockWhileFast(false))
  expect(await Promise.all(ALL.map((version) => stampOf(tree.at(version))))).toEqual(later)
  expect(later.every((stamp) => stamp !== null)).toBe(true)
  expect(await stampOf(tree.at('gone'))).toBeNull()
})
