import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BrokenArchiveError } from '../../broken-archive.js'
import { makeEndlessTable, PIXEL } from '../../testing/endless-archives.js'
import { writeMbtiles } from '../writer.js'
import type { ReadArchive } from './reader.js'
import { MbtilesReaders } from './readers.js'

let root: string
let readers: MbtilesReaders
const onHang = vi.fn()
const onAnswer = vi.fn()
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'readers-')))
  readers = new MbtilesReaders({ onHang, onAnswer, pauseMs: 1_000 })
})
afterEach(() => {
  readers.close()
  fs.rmSync(root, { recursive: true })
  vi.clearAllMocks()
})

const archive = (id: number, name: string): ReadArchive => ({ id, root, path: path.join(root, name), format: 'png' })
const tileOf = (z: number, x: number, y: number) => Buffer.alloc(z === 3 ? 300_000 : 10 + y, `${z}/${x}/${y} `)

function identityOf(outcome: Awaited<ReturnType<MbtilesReaders['tile']>>): string {
  if (outcome === null || outcome === 'busy') throw new Error('no tile')
  return outcome.identity
}

async function write(name: string): Promise<void> {
  const tiles = [0, 1, 2, 3]
    .flatMap((z) => Array.from({ length: 4 ** z }, (_, i) => ({ z, x: i >> z, y: i & (2 ** z - 1) })))
    .map(({ z, x, y }) => ({ z, x, y, data: tileOf(z, x, y) }))
  await writeMbtiles(path.join(root, name), tiles, { name, format: 'png', bounds: [-180, -85, 180, 85], metadata: {} })
}

test('tiles arrive complete, however many are requested at once and from however many archives', async () => {
  await Promise.all([write('a.mbtiles'), write('b.mbtiles')])
  const asked = [1, 2].flatMap((id) =>
    [0, 1, 2, 3].flatMap((z) => Array.from({ length: 4 ** z }, (_, i) => ({ id, z, x: i >> z, y: i & (2 ** z - 1) }))),
  )
  const archives = [archive(1, 'a.mbtiles'), archive(2, 'b.mbtiles')]
  const outcomes = await Promise.all(asked.map(({ id, z, x, y }) => readers.tile(archives[id - 1]!, { z, x, y })))
  for (const [i, { z, x, y }] of asked.entries()) {
    const outcome = outcomes[i]!
    if (outcome === null || outcome === 'busy') throw new Error('no tile')
    expect(tileOf(z, x, y).equals(outcome.body as Uint8Array)).toBe(true)
    expect(outcome).toMatchObject({ encoding: 'identity', modifiedMs: expect.any(Number), file: null })
    expect(outcome.identity).toMatch(new RegExp(`^[0-9a-z-]+-${z}-${x}-${y}$`))
  }
  expect(await readers.tile(archives[0]!, { z: 4, x: 0, y: 0 })).toBeNull()
  readers.keepOnly(new Set())
  expect(await readers.tile(archives[0]!, { z: 0, x: 0, y: 0 })).toMatchObject({ body: tileOf(0, 0, 0) })
})

test('an invalid, missing or outside archive is reported without an effect on others', async () => {
  await write('good.mbtiles')
  fs.writeFileSync(path.join(root, 'cut.mbtiles'), fs.readFileSync(path.join(root, 'good.mbtiles')).subarray(0, 3_000))
  fs.writeFileSync(path.join(root, 'empty.mbtiles'), '')
  fs.symlinkSync('/etc/passwd', path.join(root, 'link.mbtiles'))
  spawnSync('mkfifo', [path.join(root, 'fifo.mbtiles')])
  const names = ['cut', 'empty', 'link', 'fifo', 'none']
  const [cut, empty, ...others] = names.map((name, i) =>
    readers.tile(archive(i, `${name}.mbtiles`), { z: 0, x: 0, y: 0 }),
  )
  await expect(cut).rejects.toThrow(BrokenArchiveError)
  await expect(empty).rejects.toThrow(BrokenArchiveError)
  for (const other of others) expect(await other).toBeNull()
  expect(await readers.tile(archive(9, 'good.mbtiles'), { z: 0, x: 0, y: 0 })).toMatchObject({
    body: expect.any(Buffer),
  })
})

test('the layout of an archive comes with its first tile, and again after its inode has changed', async () => {
  await write('good.mbtiles')
  const { path: file } = archive(1, 'good.mbtiles')
  const source = readers.source(archive(1, 'good.mbtiles'))
  const layout = () => {
    const told = source.layout?.() ?? null
    return told?.kind === 'database' ? told : null
  }
  expect(layout()).toBeNull()
  const tile = await source.tile({ z: 1, x: 0, y: 0 })
  expect(layout()).toMatchObject({ path: file, steps: [{ keys: [0, 1, 2] }] })
  expect(tile).toMatchObject({ identity: `${layout()?.identity}-1-0-0`, modifiedMs: layout()?.modifiedMs })
  fs.chmodSync(file, 0o640)
  source.renewLayout?.()
  expect(await source.tile({ z: 1, x: 0, y: 0 })).toMatchObject({ identity: `${layout()?.identity}-1-0-0` })
  expect(layout()?.stamp).toMatchObject({ ctimeNs: fs.statSync(file, { bigint: true }).ctimeNs })
})

test.each(['delete', 'wal'])('a tile that was written in place has another tag, in journal mode %s', async (mode) => {
  await write('live.mbtiles')
  const live = archive(1, 'live.mbtiles')
  const place = { z: 1, x: 0, y: 0 }
  const writer = new DatabaseSync(live.path)
  try {
    writer.exec(`PRAGMA journal_mode = ${mode}`)
    const before = await readers.tile(live, place)
    expect(await readers.tile(live, place)).toEqual(before)
    for (const text of ['second', 'the third']) {
      // Two commits within a tick of the kernel's timer have the same time.
      fs.utimesSync(live.path, text.length, text.length)
      const earlier = await readers.tile(live, place)
      writer
        .prepare('UPDATE tiles SET tile_data = ? WHERE zoom_level = 1 AND tile_column = 0 AND tile_row = 1')
        .run(Buffer.from(text))
      const now = await readers.tile(live, place)
      expect(now).toMatchObject({ body: Buffer.from(text), identity: expect.not.stringMatching(identityOf(earlier)) })
      expect(await readers.tile(live, place)).toEqual(now)
    }
  } finally {
    writer.close()
  }
})

test('an archive locked by a program is busy during the lock, not failed', async () => {
  await write('live.mbtiles')
  const live = archive(1, 'live.mbtiles')
  const place = { z: 1, x: 0, y: 0 }
  const before = await readers.tile(live, place)
  const writer = new DatabaseSync(live.path)
  try {
    writer.exec('BEGIN EXCLUSIVE')
    expect(await readers.tile(live, place)).toBe('busy')
    expect(await readers.tile(archive(2, 'live.mbtiles'), place)).toBe('busy')
    writer.exec('COMMIT')
    expect(await readers.tile(live, place)).toEqual(before)
  } finally {
    writer.close()
  }
})

test('a replaced archive is still read, and the new one once that fails', async () => {
  await Promise.all([write('now.mbtiles'), write('next.mbtiles')])
  const now = archive(1, 'now.mbtiles')
  const place = { z: 1, x: 0, y: 0 }
  const before = await readers.tile(now, place)
  const old = fs.openSync(now.path, 'r+')
  fs.renameSync(path.join(root, 'next.mbtiles'), now.path)
  expect(await readers.tile(now, place)).toEqual(before)
  fs.ftruncateSync(old, 0)
  fs.closeSync(old)
  expect(await readers.tile(now, place)).toMatchObject({
    body: tileOf(1, 0, 0),
    identity: expect.not.stringMatching(identityOf(before)),
  })
})

test('an archive that never responds blocks only its own requests, and is served again once it is repaired', async () => {
  await write('good.mbtiles')
  makeEndlessTable(path.join(root, 'endless.mbtiles'))
  const [good, endless] = [archive(1, 'good.mbtiles'), archive(2, 'endless.mbtiles')]
  expect(await readers.tile(endless, { z: 0, x: 0, y: 0 })).toMatchObject({ body: PIXEL })
  const unanswered = [readers.tile(endless, { z: 1, x: 0, y: 0 }), readers.tile(endless, { z: 0, x: 0, y: 0 })]
  expect(
    await Promise.all([readers.tile(good, { z: 1, x: 0, y: 0 }), readers.tile(good, { z: 1, x: 1, y: 1 })]),
  ).toMatchObject([{ body: expect.any(Buffer) }, { body: expect.any(Buffer) }])
  expect(onHang).not.toHaveBeenCalled()
  expect(await Promise.all(unanswered)).toEqual(['busy', 'busy'])
  await vi.waitFor(() => expect(onHang).toHaveBeenCalledOnce(), 15_000)
  expect(await readers.tile(endless, { z: 0, x: 0, y: 0 })).toBe('busy')
  fs.rmSync(endless.path)
  await write('endless.mbtiles')
  while ((await readers.tile(endless, { z: 1, x: 0, y: 0 })) === 'busy')
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(onAnswer).toHaveBeenCalledOnce()
})

test('a reader that dies fails its current read, and the next tile comes from another reader', async () => {
  makeEndlessTable(path.join(root, 'endless.mbtiles'))
  await write('good.mbtiles')
  const pids = () =>
    spawnSync('pgrep', ['-P', String(process.pid), '-f', 'readers/process.js'], { encoding: 'utf8' }).stdout.split('\n')
  const dying = readers.tile(archive(1, 'endless.mbtiles'), { z: 1, x: 0, y: 0 })
  for (const pid of pids().filter((line) => line !== '')) process.kill(Number(pid), 'SIGKILL')
  await expect(dying).rejects.toThrow(/SIGKILL/)
  expect(await readers.tile(archive(2, 'good.mbtiles'), { z: 0, x: 0, y: 0 })).toMatchObject({
    body: expect.any(Buffer),
  })
})
