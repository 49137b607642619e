import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BLOCK_BYTES, BlockCache, type BlockCacheOptions } from './block-cache.js'

/** Number of blocks in an extent. */
const BLOCKS = 2
const NAME = 'an-object'

let directory: string
const opened: BlockCache[] = []
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'block-cache-'))
})
afterEach(() => {
  for (const cache of opened.splice(0)) cache.close()
  fs.rmSync(directory, { recursive: true, force: true })
})

/** Opens the directory like another process. */
function open(options: Partial<BlockCacheOptions> = {}): BlockCache {
  const cache = new BlockCache({
    directory,
    capacityBytes: 1024 * BLOCK_BYTES,
    processes: 1,
    onTrouble: () => {},
    onWorking: () => {},
    extentBytes: BLOCKS * BLOCK_BYTES,
    ...options,
  })
  opened.push(cache)
  return cache
}

const block = () => randomBytes(BLOCK_BYTES)

test('another process finds the blocks that one process cached, including the shorter last block', async () => {
  const [first, last] = [block(), randomBytes(1_000)]
  const one = open()
  await one.keep(NAME, 4, first)
  await one.keep(NAME, 5, last)
  const other = open()
  expect(await other.find(NAME, 4, BLOCK_BYTES)).toEqual(first)
  expect(await other.find(NAME, 5, 1_000)).toEqual(last)
  expect(await other.find(NAME, 6, BLOCK_BYTES)).toBeNull()
  expect(await other.find('another-object', 4, BLOCK_BYTES)).toBeNull()
})

test.each([
  ['a byte of it is another', 100, 1],
  ['its end was never written', BLOCK_BYTES - 4_096, 4_096],
  ['its checksum was never written', BLOCKS * BLOCK_BYTES, 8],
  ['its checksum is another', BLOCKS * BLOCK_BYTES, 1],
])('a block is absent if %s', async (_, at, length) => {
  await open().keep(NAME, 0, block())
  const fd = fs.openSync(path.join(directory, NAME, '0'), 'r+')
  const before = Buffer.alloc(length)
  fs.readSync(fd, before, 0, length, at)
  fs.writeSync(fd, length === 1 ? Buffer.of((before[0] as number) ^ 1) : Buffer.alloc(length), 0, length, at)
  fs.closeSync(fd)
  expect(await open().find(NAME, 0, BLOCK_BYTES)).toBeNull()
})

test('a file truncated at any position contains no incomplete block', async () => {
  const bytes = block()
  await open().keep(NAME, 0, bytes)
  for (const size of [0, 1, BLOCK_BYTES, BLOCKS * BLOCK_BYTES + 7]) {
    fs.truncateSync(path.join(directory, NAME, '0'), size)
    const cache = open()
    expect(await cache.find(NAME, 0, BLOCK_BYTES)).toBeNull()
    expect(cache.counts.failing).toBe(0)
  }
  await open().keep(NAME, 0, bytes)
  expect(await open().find(NAME, 0, BLOCK_BYTES)).toEqual(bytes)
})

test('the directory stays within its capacity; readers of an evicted open file can continue', async () => {
  const capacityBytes = 40 * BLOCK_BYTES
  const cache = open({ capacityBytes })
  const first = block()
  await cache.keep(NAME, 0, first)
  const { fd, handle } = cache.opened(NAME, 0) as NonNullable<ReturnType<BlockCache['opened']>>
  const release = handle.acquire()
  for (let i = BLOCKS; i < 200; i++) await cache.keep(NAME, i, block())
  await expect.poll(() => fs.existsSync(path.join(directory, NAME, '0'))).toBe(false)
  const usedBytes = () => {
    const files = fs.readdirSync(path.join(directory, NAME)).map((name) => path.join(directory, NAME, name))
    return files.reduce((sum, file) => sum + (fs.statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0)
  }
  await expect.poll(usedBytes).toBeLessThanOrEqual(capacityBytes)
  expect(cache.counts.evictions).toBeGreaterThan(10)
  const read = Buffer.alloc(BLOCK_BYTES)
  fs.readSync(fd, read, 0, BLOCK_BYTES, 0)
  expect(read).toEqual(first)
  release()
  // The newest block exists.
  expect(await open({ capacityBytes }).find(NAME, 199, BLOCK_BYTES)).not.toBeNull()
})

test('the most recently used files stay', async () => {
  const capacityBytes = 40 * BLOCK_BYTES
  const writer = open({ capacityBytes })
  for (let i = 0; i < 30; i++) await writer.keep(NAME, i, block())
  // Another process requests the oldest one.
  const reader = open({ capacityBytes })
  const [used, unused] = [path.join(directory, NAME, '0'), path.join(directory, NAME, '1')]
  const usedAt = fs.statSync(used).ctimeMs
  expect(await reader.find(NAME, 0, BLOCK_BYTES)).not.toBeNull()
  await expect.poll(() => fs.statSync(used).ctimeMs).toBeGreaterThan(usedAt)
  let next = 30
  while (fs.existsSync(unused) && next < 400) await writer.keep(NAME, next++, block())
  await expect.poll(() => fs.existsSync(unused)).toBe(false)
  expect(fs.existsSync(used)).toBe(true)
})

test('a failing disk is reported once, and blocks are cached in memory', async () => {
  const troubles: unknown[] = []
  fs.writeFileSync(path.join(directory, 'file'), '')
  const cache = open({ directory: path.join(directory, 'file/below'), onTrouble: (error) => troubles.push(error) })
  const bytes = block()
  for (let i = 0; i < 5; i++) await cache.keep(NAME, i, bytes)
  expect(await cache.find(NAME, 3, BLOCK_BYTES)).toEqual(bytes)
  expect([troubles.length, cache.counts.failing, cache.mayFill]).toEqual([1, 1, false])
})

test('blocks that came faster than the disk accepts them are written once they are requested again', async () => {
  const cache = open()
  const blocks = Array.from({ length: 100 }, block)
  await Promise.all(blocks.map((bytes, i) => cache.keep(NAME, i, bytes)))
  expect(cache.counts.keptBlocks).toBeLessThan(blocks.length)
  const isIn = async (where: BlockCache) => {
    const found = await Promise.all(blocks.map((_, i) => where.find(NAME, i, BLOCK_BYTES)))
    return found.every((bytes, i) => blocks[i]?.equals(bytes as Buffer))
  }
  expect(await isIn(cache)).toBe(true)
  await expect.poll(() => cache.counts.keptBlocks).toBe(blocks.length)
  const isPresent = blocks.map((_, i) => cache.opened(NAME, Math.floor(i / BLOCKS))?.present[i % BLOCKS])
  expect(isPresent).toEqual(blocks.map(() => 1))
  expect(await isIn(open())).toBe(true)
})

test('a directory that is deleted meanwhile is created again', async () => {
  const cache = open()
  await cache.keep(NAME, 0, block())
  fs.rmSync(directory, { recursive: true })
  const bytes = block()
  await cache.keep(NAME, BLOCKS, bytes)
  expect(await open().find(NAME, BLOCKS, BLOCK_BYTES)).toEqual(bytes)
  expect(cache.counts.failing).toBe(0)
})
