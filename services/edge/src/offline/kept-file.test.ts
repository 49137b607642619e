import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Clocks, KeptFile } from './kept-file.js'
import { RowBytes, readRows } from './kept-rows.js'

const URL_OF_STORE = 'postgres://gateway:secret@db/gateway'
const FACTS = { state: { revision: 7, mark: 'm', epoch: 'e' }, instanceId: 'i' }
const KNOWN_MS_AGO = 1_000

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'kept-')), 'catalog')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

const clocks = (wallMs: number, hostMs: number, boot = 'this'): Clocks => ({
  wall: () => wallMs,
  host: () => hostMs,
  bootId: () => boot,
})
const at = (time: Clocks, url = URL_OF_STORE, version = '1') => new KeptFile(folder, url, version, time)
const WRITTEN = clocks(1_000_000, 50_000)

async function write(content: readonly Uint8Array[] = [Buffer.from('rows')]): Promise<void> {
  await at(WRITTEN).write(content, FACTS, KNOWN_MS_AGO)
}

test('the kept state is read again, with its age, and other users may not read it', async () => {
  await write()
  const read = await at(clocks(0, 53_000)).read()
  expect(read).toMatchObject({ ...FACTS, content: Buffer.from('rows'), ageMs: 4_000 })
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, 'stamp'), 'utf8')).not.toContain('secret')
})

test('unchanged rows are stamped again, and rows that are no longer needed are removed', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('old')], FACTS, 0)
  await file.write([Buffer.from('new')], FACTS, 0)
  await file.append([], { ...FACTS, instanceId: 'j' }, 0)
  expect(readdirSync(folder)).toHaveLength(2)
  expect(await at(WRITTEN).read()).toMatchObject({ instanceId: 'j', content: Buffer.from('new') })
})

const rowsFile = () => join(folder, readdirSync(folder).find((name) => name.endsWith('.rows')) as string)
const contentNow = async () => (await at(WRITTEN).read())?.content.toString()

test('changes are appended to the rows, which are not written again', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('base')], FACTS, 0)
  const { ino } = statSync(rowsFile())
  await file.append([Buffer.from('+one'), Buffer.from('+two')], FACTS, 0)
  await file.append([Buffer.from('+three')], FACTS, 0)
  expect(statSync(rowsFile()).ino).toBe(ino)
  expect(await contentNow()).toBe('base+one+two+three')
})

test('a torn end is not read, and the next append takes its place', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('base')], FACTS, 0)
  appendFileSync(rowsFile(), '+to')
  expect(await contentNow()).toBe('base')
  await file.append([Buffer.from('+1')], FACTS, 0)
  expect(await contentNow()).toBe('base+1')
})

test('a process that ends at any step of a compaction leaves rows that can be read, and the next write removes the rest', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('old')], FACTS, 0)
  writeFileSync(join(folder, '.0123456789ab.tmp'), 'ne')
  writeFileSync(join(folder, `${randomUUID()}.rows`), 'new')
  expect(await contentNow()).toBe('old')
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 1e9, 1e9)
  await at(WRITTEN).write([Buffer.from('next')], FACTS, 0)
  expect(await contentNow()).toBe('next')
  expect(readdirSync(folder)).toHaveLength(2)
})

test('two edges with one folder keep their rows apart', async () => {
  const [one, other] = [at(WRITTEN), at(WRITTEN)]
  await one.write([Buffer.from('one')], FACTS, 0)
  await other.write([Buffer.from('other')], FACTS, 0)
  expect(await contentNow()).toBe('other')
  await one.append([], FACTS, 0)
  expect(await contentNow()).toBe('one')
  await other.append([Buffer.from('+1')], FACTS, 0)
  expect(await contentNow()).toBe('other+1')
})

test('removed rows are not stamped', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('base')], FACTS, 0)
  rmSync(rowsFile())
  await expect(file.append([], FACTS, 0)).rejects.toThrow(/ENOENT/)
})

test('rows are rewritten once more was appended than they had', async () => {
  const file = at(WRITTEN)
  expect(file.takesAppends).toBe(false)
  await file.write([Buffer.from('base')], FACTS, 0)
  await file.append([Buffer.alloc(2 ** 20)], FACTS, 0)
  expect(file.takesAppends).toBe(true)
  await file.append([Buffer.alloc(1)], FACTS, 0)
  expect(file.takesAppends).toBe(false)
})

test('an append to a full disk fails and keeps the previous state', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('base')], FACTS, 0)
  const rows = rowsFile()
  rmSync(rows)
  symlinkSync('/dev/full', rows)
  await expect(file.append([Buffer.from('+one')], FACTS, 0)).rejects.toThrow(/ENOSPC/)
  rmSync(rows)
  writeFileSync(rows, 'base+o')
  expect(await contentNow()).toBe('base')
  await file.append([Buffer.from('+two')], FACTS, 0)
  expect(await contentNow()).toBe('base+two')
})

test('after a restart of the machine the age is that of the calendar', async () => {
  await write()
  expect(await at(clocks(1_005_000, 10, 'another')).read()).toMatchObject({ ageMs: 6_000 })
})

test('nothing is read if nothing was kept, or if it was forgotten', async () => {
  expect(await at(WRITTEN).read()).toBeNull()
  await write()
  await at(WRITTEN).forget()
  expect(await at(WRITTEN).read()).toBeNull()
})

test.each<[string, () => KeptFile, RegExp]>([
  ['another store', () => at(WRITTEN, URL_OF_STORE.replace('secret', 'other')), /damaged, or was kept for another/],
  ['another version', () => at(WRITTEN, URL_OF_STORE, '2'), /version 1 kept it/],
  ['a machine whose calendar was set back', () => at(clocks(900_000, 10, 'another')), /set back/],
])('%s does not use it', async (_, file, message) => {
  await write()
  await expect(file().read()).rejects.toThrow(message)
})

test.each([
  ['its stamp', 'stamp', /damaged/],
  ['its rows', 'rows', /rows are damaged/],
])('one changed byte of %s makes it unusable', async (_, ending, message) => {
  await write()
  const name = readdirSync(folder).find((one) => one.endsWith(ending)) as string
  const bytes = readFileSync(join(folder, name))
  bytes[bytes.length - 2] = (bytes[bytes.length - 2] as number) ^ 1
  writeFileSync(join(folder, name), bytes)
  await expect(at(WRITTEN).read()).rejects.toThrow(message)
})

test('rows are read unchanged, without the deleted ones', () => {
  const rows = new RowBytes()
  const world = storedBasemap('world', [storedVersion('v1'), storedVersion('v2')])
  rows.put('basemap', 'world', storedBasemap('world', []))
  rows.put('basemap', 'world', world)
  rows.put('basemap', 'gone', storedBasemap('gone', []))
  rows.delete('basemap', 'gone')
  expect(readRows(Buffer.concat(rows.all()))).toEqual({
    basemaps: [world],
    vectors: [],
    styles: [],
    fonts: [],
    tokens: [],
  })
})

test('the records since the last write update the written rows', () => {
  const rows = new RowBytes()
  rows.put('basemap', 'stays', storedBasemap('stays', []))
  rows.put('basemap', 'goes', storedBasemap('goes', []))
  rows.put('basemap', 'grows', storedBasemap('grows', []))
  const base = rows.takeChanges()
  rows.delete('basemap', 'goes')
  rows.delete('basemap', 'never')
  rows.put('basemap', 'stays', storedBasemap('stays', []))
  rows.put('basemap', 'grows', storedBasemap('grows', [storedVersion('v1')]))
  const more = rows.takeChanges()
  expect(more).toHaveLength(2)
  expect(readRows(Buffer.concat([...base, ...more]))).toEqual(readRows(Buffer.concat(rows.all())))
})
