import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Entry, open, type ZipFile } from 'yauzl'
import type { Bundle } from './bundle.js'
import { partOf } from './part.js'
import { zipOf } from './zip.js'
import { ZipDirectory } from './zip-directory.js'

let root: string
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'zip-directory-'))
})
afterAll(() => rmSync(root, { recursive: true }))

function bundleOf(count: number, onFile: (n: number) => void = () => {}): Bundle {
  writeFileSync(path.join(root, 'one.png'), 'one tile')
  return {
    root,
    kind: 'folder',
    place: 'a/b',
    compressible: false,
    files: async function* () {
      for (let n = 0; n < count; n++) {
        onFile(n)
        yield { name: `a/b/9/${n >> 9}/${n & 511}.png`, path: path.join(root, 'one.png') }
      }
    },
  }
}

/** What an independent reader makes of a file: how many entries it has, and the content of the last one. */
async function readZip(file: string): Promise<{ entries: number; last: string }> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    open(file, { lazyEntries: true, autoClose: false }, (error, opened) => (error ? reject(error) : resolve(opened))),
  )
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

async function partWith(files: number): Promise<{ zip: Buffer; content: Buffer }> {
  const bundle = bundleOf(files)
  const list = []
  for await (const file of bundle.files()) list.push(file)
  const zip = await buffer(partOf(bundle, list))
  return { zip, content: new ZipDirectory().take(Buffer.from(zip), 0) }
}

async function writeParts(file: string, starts: readonly number[], filesEach: number): Promise<void> {
  const { zip, content } = await partWith(filesEach)
  const directory = new ZipDirectory()
  const fd = openSync(file, 'w')
  for (const start of starts) {
    directory.take(Buffer.from(zip), start)
    writeSync(fd, content, 0, content.length, start)
  }
  let at = (starts.at(-1) ?? 0) + content.length
  for (const block of directory.blocks(at)) at += writeSync(fd, block, 0, block.length, at)
  closeSync(fd)
}

test.each([0, 1, 99, 100, 101, 250])('a bundle of %i files is one zip of as many', async (count) => {
  const file = path.join(root, `${count}.zip`)
  writeFileSync(file, await buffer(zipOf(bundleOf(count))))
  if (count === 0) expect(await buffer(zipOf(bundleOf(0)))).toHaveLength(22)
  else expect(await readZip(file)).toEqual({ entries: count, last: 'one tile' })
})

test.each([
  [65_534, 434],
  [65_535, 255],
  [65_536, 256],
])('%i entries in parts of %i are found by an independent reader', async (count, each) => {
  const { content } = await partWith(each)
  const file = path.join(root, 'many.zip')
  const starts = Array.from({ length: count / each }, (_, i) => i * content.length)
  await writeParts(file, starts, each)
  expect(await readZip(file)).toEqual({ entries: count, last: 'one tile' })
})

test.each([0xffffffff - 1, 0xffffffff, 0xffffffff + 1, 9_000_000_000])(
  'a part that begins at byte %i is found',
  async (start) => {
    const file = path.join(root, 'far.zip')
    await writeParts(file, [0, start], 3)
    expect(await readZip(file)).toEqual({ entries: 6, last: 'one tile' })
  },
)

test('until its end a zip keeps a few bytes of each file, however many there are', async () => {
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
  expect(each).toBeLessThan(100)
})
