import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createLog } from '@gateway/core/logging/log.js'
import { storedVersion } from '@gateway/store/testing/stored-rows.js'
import { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import { SMALL_BYTES } from '@gateway/tilesets/source.js'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { DiskGate } from '../files/disk-gate.js'
import type { CatalogVersion } from '../sync/catalog.js'
import { type LoadOutcome, TileLoader } from './tile-loader.js'

const SMALL = { z: 0, x: 0, y: 0 }
const LARGE = { z: 1, x: 0, y: 0 }
const NOWHERE = { z: 1, x: 1, y: 1 }

let root: string
let version: CatalogVersion
let gate: DiskGate
let loader: TileLoader
const mbtiles = new MbtilesReaders({ onHang: () => {}, onAnswer: () => {} })
beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tile-loader-')))
  for (const { z, x } of [SMALL, LARGE]) fs.mkdirSync(path.join(root, `v1/${z}/${x}`), { recursive: true })
  fs.writeFileSync(path.join(root, 'v1/0/0/0.png'), 'small')
  fs.writeFileSync(path.join(root, 'v1/1/0/0.png'), Buffer.alloc(SMALL_BYTES + 1, 'l'))
})
afterAll(() => fs.rmSync(root, { recursive: true }))
beforeEach(() => {
  version = {
    stored: storedVersion('v1', { path: path.join(root, 'v1') }),
    root,
    contentId: 1,
    tags: [],
    tagLines: '',
    usage: 'version:alps/v1',
  }
  gate = new DiskGate({ log: createLog('edge', 'silent'), threads: 8 })
  loader = new TileLoader({ disks: gate, mbtiles })
})

function later(place: typeof SMALL, isWanted = () => true): Promise<LoadOutcome> {
  return new Promise((resolve) => loader.load(version, place, { isWanted, settle: resolve }))
}

test('a version is first opened by a thread; then its tiles in memory load at once, with the same bytes and identity', async () => {
  expect(loader.tileIfCached(version, SMALL)).toBeUndefined()
  const threaded = await later(SMALL)
  if (threaded.kind !== 'tile') throw new Error(threaded.kind)
  expect(threaded.tile.body).toEqual(Buffer.from('small'))
  expect(loader.tileIfCached(version, SMALL)).toEqual(threaded.tile)
})

test('without the addon every tile is loaded by a thread', async () => {
  loader = new TileLoader({ disks: gate, mbtiles }, 'the addon was not built')
  for (let i = 0; i < 2; i++) {
    expect(loader.tileIfCached(version, SMALL)).toBeUndefined()
    expect(await later(SMALL)).toMatchObject({ kind: 'tile', tile: { body: Buffer.from('small') } })
  }
})

test('a large tile is an open file either way', async () => {
  const threaded = await later(LARGE)
  const now = loader.tileIfCached(version, LARGE)
  for (const tile of [threaded.kind === 'tile' ? threaded.tile : null, now]) {
    if (tile === null || tile === undefined || tile.body instanceof Uint8Array) throw new Error('not open')
    expect([fs.fstatSync(tile.body.fd).size, tile.body.length]).toEqual([SMALL_BYTES + 1, SMALL_BYTES + 1])
    tile.body.release()
  }
})

test('a missing tile is absent, by a thread, or at once if the kernel has cached that', async () => {
  expect(await later(NOWHERE)).toEqual({ kind: 'absent' })
  expect([null, undefined]).toContain(loader.tileIfCached(version, NOWHERE))
})

test('waiting requests for one tile share its loading, and each keeps the file until it is finished', async () => {
  const run = vi.spyOn(gate, 'run')
  const outcomes = await Promise.all([later(LARGE), later(LARGE), later(LARGE)])
  expect(run).toHaveBeenCalledOnce()
  const bodies = outcomes.map((outcome) => (outcome.kind === 'tile' ? outcome.tile.body : null))
  const fds = bodies.map((body) => (body === null || body instanceof Uint8Array ? -1 : body.fd))
  expect(new Set(fds).size).toBe(1)
  const isOpen = () => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fds[0]}`).endsWith('v1/1/0/0.png')
    } catch {
      return false
    }
  }
  for (const body of bodies) {
    expect(isOpen()).toBe(true)
    if (body !== null && !(body instanceof Uint8Array)) body.release()
  }
  while (isOpen()) await new Promise(setImmediate)
  expect((await later(LARGE)).kind).toBe('tile')
  expect(run).toHaveBeenCalledTimes(2)
})

test('an aborted request gets no result, and does not affect later ones', async () => {
  const gone = vi.fn()
  loader.load(version, SMALL, { isWanted: () => false, settle: gone })
  expect((await later(SMALL)).kind).toBe('tile')
  expect(gone).not.toHaveBeenCalled()
})

test('a folder is checked again ahead of time, while its tiles still load at once', async () => {
  await later(SMALL)
  const start = performance.now()
  const run = vi.spyOn(gate, 'run')
  const clock = vi.spyOn(performance, 'now').mockReturnValue(start + 55_000)
  for (let i = 0; i < 2; i++) expect(loader.tileIfCached(version, SMALL)).not.toBeUndefined()
  expect(run).toHaveBeenCalledTimes(1)
  await run.mock.results[0]?.value
  clock.mockReturnValue(start + 100_000)
  expect(loader.tileIfCached(version, SMALL)).not.toBeUndefined()
  clock.mockReturnValue(start + 120_000)
  expect(loader.tileIfCached(version, SMALL)).toBeUndefined()
  clock.mockRestore()
})

test('an error of the disk is reported, and the next request reads again', async () => {
  loader = new TileLoader({ disks: gate, mbtiles }, 'the addon was not built')
  const open = vi.spyOn(fs, 'readlinkSync').mockImplementationOnce(() => {
    throw new Error('EIO')
  })
  expect(await later(SMALL)).toEqual({ kind: 'failed', error: new Error('EIO') })
  open.mockRestore()
  expect(await later(SMALL)).toMatchObject({ kind: 'tile' })
})
