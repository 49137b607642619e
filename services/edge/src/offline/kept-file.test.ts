import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { storedBasemap, storedVersion } from '../testing/stored-rows.js'
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

test('what is kept is read again, with its age, and others may not read it', async () => {
  await write()
  const read = await at(clocks(0, 53_000)).read()
  expect(read).toMatchObject({ ...FACTS, content: Buffer.from('rows'), ageMs: 4_000 })
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, 'stamp'), 'utf8')).not.toContain('secret')
})

test('rows that have not changed are stamped anew, and rows that are not wanted any more go', async () => {
  const file = at(WRITTEN)
  await file.write([Buffer.from('old')], FACTS, 0)
  await file.write([Buffer.from('new')], FACTS, 0)
  await file.write(null, { ...FACTS, instanceId: 'j' }, 0)
  expect(readdirSync(folder)).toHaveLength(2)
  expect(await at(WRITTEN).read()).toMatchObject({ instanceId: 'j', content: Buffer.from('new') })
})

test('after another start of the machine the calendar says how old it is', async () => {
  await write()
  expect(await at(clocks(1_005_000, 10, 'another')).read()).toMatchObject({ ageMs: 6_000 })
})

test('nothing is read where nothing was kept, or it was forgotten', async () => {
  expect(await at(WRITTEN).read()).toBeNull()
  await write()
  await at(WRITTEN).forget()
  expect(await at(WRITTEN).read()).toBeNull()
})

test.each<[string, () => KeptFile, RegExp]>([
  ['another store', () => at(WRITTEN, URL_OF_STORE.replace('secret', 'other')), /damaged, or was kept for another/],
  ['another version', () => at(WRITTEN, URL_OF_STORE, '2'), /version 1 kept it/],
  ['a machine whose calendar was set back', () => at(clocks(900_000, 10, 'another')), /set back/],
])('%s does not take it', async (_, file, message) => {
  await write()
  await expect(file().read()).rejects.toThrow(message)
})

test.each([
  ['its stamp', 'stamp', /damaged/],
  ['its rows', 'rows', /rows are damaged/],
])('one changed byte of %s is enough to refuse it', async (_, ending, message) => {
  await write()
  const name = readdirSync(folder).find((one) => one.endsWith(ending)) as string
  const bytes = readFileSync(join(folder, name))
  bytes[bytes.length - 2] = (bytes[bytes.length - 2] as number) ^ 1
  writeFileSync(join(folder, name), bytes)
  await expect(at(WRITTEN).read()).rejects.toThrow(message)
})

test('rows come back as they were, those alone that were not deleted', () => {
  const rows = new RowBytes()
  const world = storedBasemap('world', [storedVersion('v1'), storedVersion('v2')])
  rows.put('basemap', 'world', storedBasemap('world', []))
  rows.put('basemap', 'world', world)
  rows.put('basemap', 'gone', storedBasemap('gone', []))
  rows.delete('basemap', 'gone')
  expect(readRows(Buffer.concat(rows.all()))).toEqual({ basemaps: [world], vectors: [], tokens: [] })
})
