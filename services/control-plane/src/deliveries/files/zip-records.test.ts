import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { crc32 } from 'node:zlib'
import { localHeader, ZipDirectory, type ZipEntry } from '@gateway/core/files/zip-records.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Entry, fromBuffer, open, type ZipFile } from 'yauzl'
import type { Bundle } from './bundle.js'
import { zipOf } from './zip.js'

let root: string
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'zip-records-'))
})
afterAll(() => rmSync(root, { recursive: true }))

function bundleOf(count: number, onFile: (n: number) => void = () => {}): Bundle {
  writeFileSync(path.join(root, 'one.png'), 'one tile')
  return {
    root,
    kind: 'folder',
    place: 'a/b',
    code: 'a',
    compressible: false,
    files: async function* () {
      for (let n = 0; n < count; n++) {
        onFile(n)
        yield { name: `a/b/9/${n >> 9}/${n & 511}.png`, path: path.join(root, 'one.png') }
      }
    },
  }
}

function openZip(file: string): Promise<ZipFile> {
  return new Promise((resolve, reject) =>
    open(file, { lazyEntries: true, autoClose: false }, (error, zip) => (error ? reject(error) : resolve(zip))),
  )
}

/** Opens a zip in memory: two file reads for each of 65,536 entries would take ten times as long. */
function openInMemory(bytes: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) =>
    fromBuffer(bytes, { lazyEntries: true }, (error, zip) => (error ? reject(error) : resolve(zip))),
  )
}

/** Returns the result of an independent reader: the number of entries, and the content of the last one. */
async function readZip(zip: ZipFile): Promise<{ entries: number; last: string }> {
  let last: Entry | null = null
  let entries = 0
  await new Promise<void>((resolve, reject) => {
    zip.on('error', reject).on('end', resolve)
    zip.on('entry', (entry: Entry) => {
      last = entry
      entries++
      zip.readEntry()
    })
    zip.readEntry()
  })
  expect(zip.entryCount).toBe(entries)
  const content = await new Promise<Buffer>((resolve, reject) =>
    zip.openReadStream(last as unknown as Entry, (error, stream) => (error ? reject(error) : resolve(buffer(stream)))),
  )
  zip.close()
  return { entries, last: content.toString() }
}

const CONTENT = Buffer.from('one tile')

function entryAt(offset: number): ZipEntry {
  const size = CONTENT.length
  const kind = { deflated: false, streamed: false, large: false }
  return { name: `a/b/${offset}.png`, mtimeMs: 0, ...kind, offset, crc: crc32(CONTENT), size, packedSize: size }
}

/** Writes a zip with `entries` entries, whose content lies at these offsets. */
function writeZip(file: string, offsets: readonly number[], entries: number): void {
  const directory = new ZipDirectory()
  const fd = openSync(file, 'w')
  let at = 0
  for (const offset of offsets) {
    const bytes = Buffer.concat([localHeader(entryAt(offset)), CONTENT])
    at = offset + writeSync(fd, bytes, 0, bytes.length, offset)
  }
  for (let n = 0; n < entries; n++) directory.add(entryAt(offsets[n % offsets.length] as number))
  for (const block of directory.blocks(at)) at += writeSync(fd, block, 0, block.length, at)
  closeSync(fd)
}

test.each([0, 1, 99, 100, 101, 250])('a bundle of %i files is one zip of as many', async (count) => {
  const file = path.join(root, `${count}.zip`)
  writeFileSync(file, await buffer(zipOf(bundleOf(count))))
  if (count === 0) expect(await buffer(zipOf(bundleOf(0)))).toHaveLength(22)
  else expect(await readZip(await openZip(file))).toEqual({ entries: count, last: 'one tile' })
})

test.each([65_534, 65_535, 65_536])('an independent reader finds %i entries', async (count) => {
  const file = path.join(root, 'many.zip')
  writeZip(file, [0], count)
  expect(await readZip(await openInMemory(readFileSync(file)))).toEqual({ entries: count, last: 'one tile' })
})

test.each([0xffffffff - 1, 0xffffffff, 0xffffffff + 1, 9_000_000_000])(
  'a file that begins at byte %i is found',
  async (offset) => {
    const file = path.join(root, 'far.zip')
    writeZip(file, [0, offset], 2)
    expect(await readZip(await openZip(file))).toEqual({ entries: 2, last: 'one tile' })
  },
)

test.each([4_294_967_294, 4_294_967_295, 9_000_000_000])('a file of %i bytes has its size', async (size) => {
  const file = path.join(root, 'large.zip')
  const directory = new ZipDirectory()
  directory.add({ ...entryAt(0), size, packedSize: size, streamed: true, large: true })
  writeFileSync(file, Buffer.concat([...directory.blocks(0)]))
  const zip = await openZip(file)
  const entry = await new Promise<Entry>((resolve, reject) => {
    zip.once('entry', resolve).once('error', reject)
    zip.readEntry()
  })
  zip.close()
  expect(entry).toMatchObject({ uncompressedSize: size, compressedSize: size })
})

test('an unfinished zip keeps a few bytes per file, however many there are', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept = () => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const at = new Map<number, number>()
  const bundle = bundleOf(15_001, (n) => void (n % 5000 === 0 && at.set(n, kept())))
  for await (const _ of zipOf(bundle));
  const each = ((at.get(15_000) ?? 0) - (at.get(5000) ?? 0)) / 10_000
  // The size of an entry of the central directory, rounded up by the heap; a library keeps about 500 bytes.
  expect(each).toBeLessThan(250)
})
