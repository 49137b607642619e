import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { createLog } from '@gateway/core/logging/log.js'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { DiskGate } from '../files/disk-gate.js'
import { trimZipFolder } from './zip-cache.js'
import { type OpenedZip, ZipStore } from './zip-store.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-zips-'))
const root = path.join(home, 'source')
const log = createLog('edge', 'silent')
const stores: ZipStore[] = []

beforeEach(() => {
  fs.rmSync(root, { recursive: true, force: true })
  fs.mkdirSync(root, { recursive: true })
  for (const name of [
    'roads.shp',
    'roads.shx',
    'roads.DBF',
    'roads.shp.xml',
    'roads.txt',
    'roads2.shp',
    'rivers.shp',
  ]) {
    fs.writeFileSync(path.join(root, name), randomBytes(20_000))
    fs.utimesSync(path.join(root, name), 1_700_000_000, 1_700_000_000)
  }
})

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  fs.rmSync(home, { recursive: true, force: true })
})

function newStore(folder: string): ZipStore {
  const store = new ZipStore(path.join(home, folder), log, new DiskGate({ log, threads: 4 }))
  stores.push(store)
  return store
}

function bytesOf(zip: OpenedZip): Buffer {
  if (!zip.ok) throw new Error(zip.reason)
  const data = fs.readFileSync(zip.fd)
  fs.closeSync(zip.fd)
  return data
}

/** Returns the names in the order of the local headers (APPNOTE 4.3.7); sufficient for archives of this service. */
function namesIn(zip: Buffer): string[] {
  const names: string[] = []
  for (let at = zip.indexOf('PK\x01\x02'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4)) {
    names.push(zip.subarray(at + 46, at + 46 + zip.readUInt16LE(at + 28)).toString())
  }
  return names
}

/** Returns the content of a small entry, by the central directory (APPNOTE 4.3.12). */
function textIn(zip: Buffer, name: string): string {
  const entry = zip.lastIndexOf(name) - 46
  const local = zip.readUInt32LE(entry + 42)
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  return inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(entry + 20))).toString()
}

test('a zip contains only the shapefile and its sidecar files, sorted', async () => {
  const zip = bytesOf(await newStore('a').open(root, path.join(root, 'roads.shp'), null))
  expect(namesIn(zip)).toEqual(['roads.DBF', 'roads.shp', 'roads.shp.xml', 'roads.shx'])
})

test('the same files yield the same bytes and the same identity in any process', async () => {
  const [one, two] = [newStore('b1'), newStore('b2')]
  const [a, b] = [
    await one.open(root, path.join(root, 'roads.shp'), null),
    await two.open(root, path.join(root, 'roads.shp'), null),
  ]
  expect(a.ok && b.ok && a.identity === b.identity).toBe(true)
  expect(bytesOf(a).equals(bytesOf(b))).toBe(true)
})

test('simultaneous requests share one build, and later ones use its result', async () => {
  const store = newStore('c')
  const zips = await Promise.all(Array.from({ length: 8 }, () => store.open(root, path.join(root, 'roads.shp'), null)))
  const bytes = zips.map(bytesOf)
  expect(bytes.every((data) => data.equals(bytes[0] as Buffer))).toBe(true)
  const [file] = fs.readdirSync(path.join(home, 'c'))
  const built = fs.statSync(path.join(home, 'c', file as string)).ino
  bytesOf(await store.open(root, path.join(root, 'roads.shp'), null))
  expect(fs.statSync(path.join(home, 'c', file as string)).ino).toBe(built)
})

test('a changed shapefile is packed again', async () => {
  const store = newStore('d')
  const before = await store.open(root, path.join(root, 'roads.shp'), null)
  fs.writeFileSync(path.join(root, 'roads.shx'), 'other')
  const after = await store.open(root, path.join(root, 'roads.shp'), null)
  expect(before.ok && after.ok && before.identity !== after.identity).toBe(true)
  expect(bytesOf(before).equals(bytesOf(after))).toBe(false)
})

test('a sidecar file that leads out of the source is omitted, and such a shapefile is absent', async () => {
  const outside = path.join(home, 'outside.shx')
  fs.writeFileSync(outside, 'secret')
  fs.rmSync(path.join(root, 'roads.shx'))
  fs.symlinkSync(outside, path.join(root, 'roads.shx'))
  const store = newStore('e')
  expect(namesIn(bytesOf(await store.open(root, path.join(root, 'roads.shp'), null)))).not.toContain('roads.shx')
  fs.rmSync(path.join(root, 'roads.shp'))
  fs.symlinkSync(outside, path.join(root, 'roads.shp'))
  expect(await store.open(root, path.join(root, 'roads.shp'), null)).toEqual({ ok: false, reason: 'absent' })
  expect(await store.open(root, path.join(root, 'nothing.shp'), null)).toEqual({ ok: false, reason: 'absent' })
})

test('an encoding that was set overrides the .cpg of the shapefile', async () => {
  fs.writeFileSync(path.join(root, 'roads.CPG'), 'UTF-8')
  const encoding = { name: 'GBK', isSet: true }
  const zip = bytesOf(await newStore('i').open(root, path.join(root, 'roads.shp'), encoding))
  expect(namesIn(zip)).toEqual(['roads.DBF', 'roads.cpg', 'roads.shp', 'roads.shp.xml', 'roads.shx'])
  expect(textIn(zip, 'roads.cpg')).toBe('GBK')
})

test('a .cpg is added for a known encoding if the shapefile has a table but no .cpg', async () => {
  const store = newStore('h')
  const open = (name: string, encoding: string | null) =>
    store.open(root, path.join(root, name), encoding === null ? null : { name: encoding, isSet: false })
  const names = async (name: string, encoding: string | null) => namesIn(bytesOf(await open(name, encoding)))
  expect(await names('roads.shp', 'GBK')).toEqual(['roads.DBF', 'roads.cpg', 'roads.shp', 'roads.shp.xml', 'roads.shx'])
  expect(await names('roads.shp', null)).not.toContain('roads.cpg')
  expect(await names('rivers.shp', 'GBK')).toEqual(['rivers.shp'])
  const [gbk, big5] = [await open('roads.shp', 'GBK'), await open('roads.shp', 'Big5')]
  expect(gbk.ok && big5.ok && gbk.identity !== big5.identity).toBe(true)
  expect([gbk, big5].map((zip) => textIn(bytesOf(zip), 'roads.cpg'))).toEqual(['GBK', 'Big5'])
  fs.writeFileSync(path.join(root, 'roads.CPG'), 'UTF-8')
  expect(await names('roads.shp', 'GBK')).toContain('roads.CPG')
  expect(await names('roads.shp', 'GBK')).not.toContain('roads.cpg')
})

test('no descriptor and no temporary file is left', async () => {
  const store = newStore('f')
  const open = () => fs.readdirSync('/proc/self/fd').length
  bytesOf(await store.open(root, path.join(root, 'roads.shp'), null))
  const before = open()
  for (let i = 0; i < 5; i++) {
    fs.writeFileSync(path.join(root, 'roads.shp'), `state ${i}`)
    bytesOf(await store.open(root, path.join(root, 'roads.shp'), null))
  }
  await expect.poll(open).toBeLessThanOrEqual(before)
  expect(fs.readdirSync(path.join(home, 'f')).filter((name) => !name.endsWith('.zip'))).toEqual([])
})

test('the oldest zips are removed until the rest fits, and the newest one stays', async () => {
  const folder = path.join(home, 'g')
  fs.mkdirSync(folder)
  for (const [i, name] of ['old.zip', 'middle.zip', 'new.zip'].entries()) {
    fs.writeFileSync(path.join(folder, name), Buffer.alloc(100))
    fs.utimesSync(path.join(folder, name), 1_000 + i, 1_000 + i)
  }
  fs.writeFileSync(path.join(folder, '.abandoned.tmp'), '')
  fs.utimesSync(path.join(folder, '.abandoned.tmp'), 1, 1)
  fs.writeFileSync(path.join(folder, '.fresh.tmp'), '')
  await trimZipFolder(folder, 250, path.join(folder, 'old.zip'), Date.now())
  expect(fs.readdirSync(folder).sort()).toEqual(['.fresh.tmp', 'new.zip', 'old.zip'])
})
