import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BlockCache } from '../remote/block-cache.js'
import type { Tile, TilePlace } from '../source.js'
import { bytesOf } from '../testing/listed-tiles.js'
import { KeptTiles, type KeptTilesOptions, type Made, type Making } from './kept-tiles.js'
import { TileNotMade } from './tile-not-made.js'

const PLACE = { z: 3, x: 2, y: 1 }
const HOUR_MS = 3_600_000

let base: string
let opened: { close(): void; written?(): Promise<void> }[]
beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'kept-'))
  opened = []
})
afterEach(async () => {
  // A response does not wait for the disk.
  for (const one of opened) await one.written?.()
  for (const one of opened) one.close()
  fs.rmSync(base, { recursive: true, force: true })
})

function cacheIn(directory: string, capacityBytes = 1_000_000): BlockCache {
  const cache = new BlockCache({ directory, capacityBytes, processes: 1, onTrouble: () => {}, onWorking: () => {} })
  opened.push(cache)
  return cache
}

/** Opens the set as each process of a host does. */
function open(make: KeptTilesOptions['make'], options: Partial<KeptTilesOptions> = {}): KeptTiles {
  const cache = options.cache ?? cacheIn(path.join(base, 'cache'))
  const limits = { ttlMs: HOUR_MS, staleMs: 24 * HOUR_MS, absentMs: HOUR_MS }
  const tiles = new KeptTiles({
    key: 'k',
    format: 'pbf',
    extension: 'pbf',
    cache,
    cached: null,
    make,
    ...limits,
    ...options,
  })
  opened.push(tiles)
  return tiles
}

/** Makes tiles after all callers have asked, and records how. */
function maker(answer: (place: TilePlace, making: Making) => Made | Promise<Made>) {
  const asked: Making[] = []
  const make = async (place: TilePlace, making: Making) => {
    asked.push(making)
    await new Promise(setImmediate)
    return answer(place, making)
  }
  return { asked, make }
}

const text = async (tile: Tile | null) => (await bytesOf(tile))?.toString() ?? null
const one = (place: TilePlace, bytes: string, about = {}): Made => [{ place, bytes: Buffer.from(bytes), ...about }]
/** Makes every kept tile old: only the clock of the machine sets the time at which a file was found to be current. */
const old = { ttlMs: -1 }

test('a tile is made once for all callers of a host, and found on the disk afterwards', async () => {
  const { asked, make } = maker((place) => one(place, 'a tile'))
  const [first, other] = [open(make), open(make)]
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? first : other).tile(PLACE)))
  expect(new Set(await Promise.all(all.map(text)))).toEqual(new Set(['a tile']))
  expect(asked).toHaveLength(1)
  const later = await open(make).tile(PLACE)
  expect([asked.length, await text(later), later?.identity]).toEqual([1, 'a tile', all[0]?.identity])
  expect(later?.currentForSeconds).toBeGreaterThan(3_500)
})

test('absence is remembered by every process, for its time', async () => {
  const { asked, make } = maker(() => 'absent')
  expect(await Promise.all([1, 2, 3].map(() => open(make).tile(PLACE)))).toEqual([null, null, null])
  expect([await open(make).tile(PLACE), asked.length]).toEqual([null, 1])
  expect([await open(make, { absentMs: 0 }).tile(PLACE), asked.length]).toEqual([null, 2])
})

test('a square is made at once, and each of its tiles is kept', async () => {
  const { asked, make } = maker((place) => {
    const left = place.x - (place.x % 2)
    return [left, left + 1].flatMap((x) => one({ ...place, x }, `tile ${x}`) as never)
  })
  const tiles = open(make, { squareTiles: 2 })
  const got = await Promise.all([2, 3].map(async (x) => text(await tiles.tile({ ...PLACE, x }))))
  expect([got, asked.length]).toEqual([['tile 2', 'tile 3'], 1])
  expect([await text(await open(make, { squareTiles: 2 }).tile({ ...PLACE, x: 3 })), asked.length]).toEqual([
    'tile 3',
    1,
  ])
  // Another square, of which the maker makes other tiles.
  expect(
    await open(() => make({ ...PLACE, y: 3 }, asked[0] as Making), { squareTiles: 2 }).tile({ ...PLACE, y: 2 }),
  ).toBeNull()
})

test('an old tile is asked for with its validators, and renewed if it is unchanged', async () => {
  const about = { etag: '"e1"', modifiedMs: 1_700_000_000_000 }
  await open(maker((place) => one(place, 'first', about)).make).tile(PLACE)
  const { asked, make } = maker(() => 'unchanged')
  const tile = await open(make, old).tile(PLACE)
  expect(asked[0]?.known).toMatchObject({ etag: '"e1"', modifiedMs: 1_700_000_000_000, bytes: 5 })
  expect([await text(tile), Math.floor((tile?.modifiedMs ?? 0) / 1000)]).toEqual(['first', 1_700_000_000])
  expect(tile?.isStale).toBeUndefined()
})

test('if the maker fails, an old tile is sent up to its age, and says so; without one the reason is known', async () => {
  const trouble = new TileNotMade(504, coded('tile_not_made'), { retryAfterSeconds: 7 })
  const { make } = maker(() => Promise.reject(trouble))
  await expect(open(make).tile(PLACE)).rejects.toBe(trouble)
  await open(maker((place) => one(place, 'old')).make).tile(PLACE)
  const tile = await open(make, old).tile(PLACE)
  expect([await text(tile), tile?.isStale, tile?.currentForSeconds]).toEqual(['old', true, 0])
  await expect(open(make, { ...old, staleMs: -1 }).tile(PLACE)).rejects.toBe(trouble)
})

test('the same bytes keep their identity, and others get another one', async () => {
  const identity = async (bytes: string) =>
    (await open(maker((place) => one(place, bytes)).make, old).tile(PLACE))?.identity
  const first = await identity('the same')
  expect(await identity('the same')).toBe(first)
  expect(await identity('the Same')).not.toBe(first)
})

test('tiles are made and not kept if the disk takes none, or no disk is used', async () => {
  fs.writeFileSync(path.join(base, 'file'), '')
  for (const cache of [cacheIn(path.join(base, 'file')), cacheIn(path.join(base, 'cache'), 0)]) {
    const { asked, make } = maker((place) => one(place, 'made'))
    const tiles = open(make, { cache })
    const all = await Promise.all([tiles.tile(PLACE), tiles.tile(PLACE)])
    expect([await Promise.all(all.map(text)), asked.length]).toEqual([['made', 'made'], 1])
    await new Promise(setImmediate)
    expect([await text(await tiles.tile(PLACE)), asked.length]).toEqual(['made', 2])
  }
})
