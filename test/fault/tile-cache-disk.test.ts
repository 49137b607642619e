import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { BLOCK_BYTES, BlockCache } from '@gateway/tilesets/remote/block-cache.js'
import { afterAll, expect, test } from 'vitest'
import { tileImage } from '../harness/fixtures/tile-image.js'
import { SmallDisk } from '../harness/small-disk.js'
import { startGateway } from '../harness/start-gateway.js'

const ZOOM = 5
const SIDE = 2 ** ZOOM

const disk = await SmallDisk.mount(32)
let swift: TestSwift | null = null
afterAll(async () => {
  await swift?.stop()
  await disk?.remove()
})

test('tiles of a bucket are served while the disk of their cache is full', async ({ annotate }) => {
  if (disk === null) {
    await annotate('no file system can be mounted here: not tested')
    return
  }
  swift = await startSwift()
  const cache = join(disk.path, 'tiles')
  const gateway = await startGateway({ env: { ...swift.environment, TILE_CACHE_DIR: cache } })
  const image = await tileImage('png', 0, 0, 0)
  const tiles = Array.from({ length: SIDE * SIDE }, (_, i) => {
    return { z: ZOOM, x: i % SIDE, y: Math.floor(i / SIDE), data: Buffer.concat([image, randomBytes(10_000)]) }
  })
  const file = join(gateway.home, 'v1.pmtiles')
  const about = { bounds: [-180, -85, 180, 85] as [number, number, number, number], metadata: {} }
  await writePmtiles(file, tiles, { ...about, format: 'png', encoding: 'identity' })
  await swift.makeBucket('maps')
  await swift.put('maps/world/v1.pmtiles', file)
  await gateway.admin.scanSource('bucket', 'basemap', 's3://maps')
  const { token } = await gateway.issueToken({ basemap_codes: ['world'] })
  /** Reads a number of tiles, of which each eighth is in another block. */
  const readSome = async (from: number) => {
    for (const { z, x, y, data } of tiles.slice(from, from + 200).filter((_, i) => i % 4 === 0)) {
      const answer = await fetch(`${gateway.url}/tiles/world/v1/${z}/${x}/${y}.png?token=${token}`)
      expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(data)]).toEqual([200, true])
    }
  }
  const failing = async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    return Number(/^gateway_remote_cache_failing (\d)$/m.exec(text)?.[1])
  }

  await readSome(0)
  await expect.poll(() => readdirSync(cache).length).toBeGreaterThan(0)
  expect(await failing()).toBe(0)
  gateway.allowErrors(/TILE_CACHE_DIR fails; remote tiles are served without it/)
  await disk.fill()
  await readSome(200)
  await expect.poll(failing).toBe(1)
  await readSome(0)
  // One line, however many blocks could not be written.
  expect(gateway.logs().split('TILE_CACHE_DIR fails').length - 1).toBe(1)
  await gateway.stop()
})

test('remote tiles on a read-only disk are read; new ones, which it cannot store, are cached in memory', async ({
  annotate,
}) => {
  if (disk === null) {
    await annotate('no file system can be mounted here: not tested')
    return
  }
  const troubles: unknown[] = []
  const open = () =>
    new BlockCache({
      directory: join(disk.path, 'read-only'),
      capacityBytes: 256 * 1024 * 1024,
      processes: 1,
      onTrouble: (error) => troubles.push(error),
      onWorking: () => {},
    })
  const [kept, late] = [randomBytes(BLOCK_BYTES), randomBytes(BLOCK_BYTES)]
  await disk.free()
  const writer = open()
  await writer.keep('object', 0, kept)
  writer.close()
  // The kernel refuses until the last descriptor is closed.
  const remount = async () =>
    promisify(execFile)('mount', ['-o', 'remount,ro', disk.path]).then(
      () => 'read-only',
      () => 'busy',
    )
  await expect.poll(remount).toBe('read-only')
  const reader = open()
  expect(await reader.find('object', 0, BLOCK_BYTES)).toEqual(kept)
  await reader.keep('object', 1, late)
  expect(await reader.find('object', 1, BLOCK_BYTES)).toEqual(late)
  expect([troubles.length, reader.counts.failing]).toEqual([1, 1])
  reader.close()
})
