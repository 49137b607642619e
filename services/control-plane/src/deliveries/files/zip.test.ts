import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unzip } from '../testing/unpack.js'
import type { Bundle } from './bundle.js'
import { zipOf } from './zip.js'

let root: string
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'zip-'))
})
afterAll(() => rmSync(root, { recursive: true }))

function bundleOf(files: Readonly<Record<string, Uint8Array>>, compressible = false): Bundle {
  const folder = mkdtempSync(path.join(root, 'bundle-'))
  for (const [name, data] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), data)
    utimesSync(path.join(folder, name), 1_700_000_000, 1_700_000_000)
  }
  return {
    root: folder,
    kind: 'folder',
    place: 'a/b',
    code: 'a',
    compressible,
    files: async function* () {
      for (const name of Object.keys(files)) yield { name, path: path.join(folder, name) }
    },
  }
}

/** Returns the open files below a folder. */
const openFiles = (folder: string) =>
  readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ''
      }
    })
    .filter((file) => file.startsWith(folder))

test('an independent reader finds every file unchanged, small, large and empty, compressed and stored', async () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}(\/[a-z0-9 ä]{1,8}){0,2}\.x$/), { maxLength: 8 })
  const sizes = fc.integer({ min: 0, max: 200_000 })
  await fc.assert(
    fc.asyncProperty(names, fc.boolean(), fc.boolean(), sizes, async (list, compressible, large, size) => {
      const files = Object.fromEntries(list.map((name, i) => [name, Buffer.alloc(Math.floor(size / (i + 1)), name)]))
      const zip = zipOf(bundleOf(files, compressible), large ? 0 : undefined)
      const found = await unzip(await buffer(zip))
      expect(Object.keys(found)).toEqual(Object.keys(files))
      for (const [name, data] of Object.entries(files)) expect(found[name]?.equals(data), name).toBe(true)
    }),
    { numRuns: 30 },
  )
})

test('the same files give the same bytes', async () => {
  const bundle = bundleOf({ 'a/1.png': Buffer.alloc(100_000, 'x'), 'a/2.png': Buffer.from('y') })
  expect((await buffer(zipOf(bundle))).equals(await buffer(zipOf(bundle)))).toBe(true)
})

test('a file that cannot be read, or leads out of its root, aborts the archive with its name', async () => {
  const bundle = bundleOf({ 'a/1.png': Buffer.from('x') })
  const withName = (name: string, file: string): Bundle => ({
    ...bundle,
    files: async function* () {
      yield* bundle.files()
      yield { name, path: file }
    },
  })
  await expect(buffer(zipOf(withName('gone', path.join(bundle.root, 'gone'))))).rejects.toThrow('gone cannot be read')
  await expect(buffer(zipOf(withName('passwd', '/etc/passwd')))).rejects.toThrow('passwd cannot be read: outside')
})

test('a consumer that stops early leaves no file open', async () => {
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.bin`, Buffer.alloc(3_000_000, i)]))
  const bundle = bundleOf(files)
  for await (const chunk of zipOf(bundle)) {
    expect(openFiles(bundle.root)).not.toEqual([])
    if (chunk.length > 0) break
  }
  await expect.poll(() => openFiles(bundle.root)).toEqual([])
})

test('a file that shrinks during the read aborts the archive', async () => {
  const bundle = bundleOf({ 'big.bin': Buffer.alloc(30_000_000, 1) })
  const file = path.join(bundle.root, 'big.bin')
  const reading = (async () => {
    for await (const chunk of zipOf(bundle)) if (statSync(file).size > 0 && chunk.length > 0) truncateSync(file, 0)
  })()
  await expect(reading).rejects.toThrow('changed while it was read')
})

test('a large bundle takes little memory however fast it is read', async () => {
  const bundle = bundleOf({})
  const file = path.join(bundle.root, 'sparse.mbtiles')
  closeSync(openSync(file, 'w'))
  truncateSync(file, 150_000_000)
  const large: Bundle = {
    ...bundle,
    files: async function* () {
      yield { name: 'sparse.mbtiles', path: file }
    },
  }
  let size = 0
  let most = 0
  const before = process.memoryUsage.rss()
  for await (const chunk of zipOf(large)) {
    size += chunk.length
    most = Math.max(most, process.memoryUsage.rss() - before)
  }
  expect(size).toBeGreaterThan(150_000_000)
  expect(most).toBeLessThan(60_000_000)
})

test('the directory of many files takes little memory, however slowly it is consumed', async () => {
  const bundle = bundleOf({ 'one.png': Buffer.from('x') })
  const many: Bundle = {
    ...bundle,
    files: async function* () {
      for (let i = 0; i < 10_000; i++) yield { name: `${i}.png`, path: path.join(bundle.root, 'one.png') }
    },
  }
  let most = 0
  const before = process.memoryUsage.rss()
  for await (const _ of zipOf(many)) {
    most = Math.max(most, process.memoryUsage.rss() - before)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(most).toBeLessThan(35_000_000)
})
