import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { LOOPBACK_SERVICE } from '../outgoing/testing/guards.js'
import { ObjectMissing, ObjectRefused, ObjectReplaced } from './errors.js'
import type { ListEntry, ObjectStore } from './object-store.js'
import { openObjectStore } from './open.js'
import { openS3Store } from './s3-store.js'
import { startSwift, type TestSwift } from './testing/swift.js'

let swift: TestSwift
let store: ObjectStore
let dir: string
const opened: ObjectStore[] = []

function open(url: string, changes: Partial<TestSwift['settings']> = {}): ObjectStore {
  const place = openObjectStore(url, { ...LOOPBACK_SERVICE, ...swift.settings, ...changes })
  opened.push(place)
  return place
}

beforeAll(async () => {
  swift = await startSwift()
  await swift.makeBucket('maps')
  dir = await mkdtemp(join(tmpdir(), 'gateway-test-objects-'))
  store = open('s3://maps/all maps+ü')
})

afterAll(async () => {
  await Promise.all(opened.map((place) => place.close()))
  await swift.stop()
  await rm(dir, { recursive: true })
})

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(dir, randomBytes(8).toString('hex'))
  await writeFile(path, bytes)
  return path
}

async function listed(from: ObjectStore, prefix: string, options = {}): Promise<string[]> {
  const entries: ListEntry[] = []
  for await (const entry of from.list(prefix, options)) entries.push(entry)
  return entries.map((entry) => ('key' in entry ? entry.key : entry.prefix))
}

test('a written object is read completely and in parts, but not beyond its end', async () => {
  const bytes = randomBytes(5000)
  const key = "a b/ü+%41 (1)'!*~/tile&=?#.bin"
  const written = await store.write(key, await fileOf(bytes), { contentType: 'application/x-tiles' })
  const facts = await store.head(key)
  expect(facts).toMatchObject({ size: 5000, etag: written.etag, modifiedAt: expect.any(Date) })
  expect((await store.read(key, { offset: 100, length: 50 })).bytes).toEqual(bytes.subarray(100, 150))
  expect((await store.read(key, { offset: 4990, length: 50 })).bytes).toEqual(bytes.subarray(4990))
  expect((await store.read(key, { offset: 5000, length: 50 })).bytes).toHaveLength(0)
  const { body, facts: streamed } = await store.stream(key)
  expect(streamed).toEqual(facts)
  expect(await buffer(body)).toEqual(bytes)
  expect(await listed(store, 'a b/')).toEqual([key])
})

test('a replaced object is not read under its old tag', async () => {
  const first = await store.write('replaced', await fileOf(randomBytes(10)))
  const second = await store.write('replaced', await fileOf(randomBytes(20)))
  const range = { offset: 0, length: 5 }
  await expect(store.read('replaced', range, { ifMatch: first.etag })).rejects.toThrow(ObjectReplaced)
  await expect(store.stream('replaced', { ifMatch: first.etag })).rejects.toThrow(ObjectReplaced)
  expect((await store.read('replaced', range, { ifMatch: second.etag })).facts.size).toBe(20)
})

test('an object above 64 MiB is written in parts and read as one', async () => {
  const bytes = Buffer.alloc(65 * 1024 * 1024, 7)
  bytes.write('end', bytes.length - 3)
  await store.write('large', await fileOf(bytes))
  const facts = await store.head('large')
  expect(facts?.size).toBe(bytes.length)
  const end = { offset: bytes.length - 4, length: 4 }
  expect((await store.read('large', end, { ifMatch: facts?.etag })).bytes.toString()).toBe('\x07end')
  for await (const entry of store.list('large'))
    expect(entry).toMatchObject({ key: 'large', facts: { etag: facts?.etag } })
})

test('a removed object is missing, and may be removed again', async () => {
  await store.write('gone', await fileOf(randomBytes(10)))
  await store.remove('gone')
  await store.remove('gone')
  expect(await store.head('gone')).toBeUndefined()
  await expect(store.read('gone', { offset: 0, length: 1 })).rejects.toThrow(ObjectMissing)
  await expect(store.stream('gone')).rejects.toThrow(ObjectMissing)
  await expect(open('s3://nobucket').read('gone', { offset: 0, length: 1 })).rejects.toThrow(ObjectMissing)
})

test('a list has folders by the delimiter, and all pages', async () => {
  await swift.makeBucket('pages')
  const names = Array.from({ length: 25 }, (_, i) => `world/${i}/tile.png`)
  // Uploads through Swift's own interface, a few at a time, since only the list is tested.
  for (let i = 0; i < names.length; i += 5) {
    await Promise.all(names.slice(i, i + 5).map((name) => swift.put(`pages/${name}`, Buffer.from('x'))))
  }
  const pages = openS3Store({ bucket: 'pages', prefix: '' }, 's3://pages', swift.settings, () => {}, 7)
  opened.push(pages)
  expect((await listed(pages, 'world/', { delimiter: '/' })).length).toBe(25)
  expect((await listed(pages, 'world/1', { delimiter: '/' })).sort()).toEqual(
    names
      .map((name) => name.slice(0, -8))
      .filter((name) => name.startsWith('world/1'))
      .sort(),
  )
  expect(await listed(pages, '')).toHaveLength(25)
  expect(await listed(pages, '', { delimiter: '/' })).toEqual(['world/'])
  expect(await listed(pages, 'nothing')).toEqual([])
})

test('wrong keys are refused with the message of the server, and without the keys', async () => {
  const refused = open('s3://maps', { awsSecretAccessKey: 'a-wrong-secret' }).read('x', { offset: 0, length: 1 })
  await expect(refused).rejects.toThrow(ObjectRefused)
  await expect(refused).rejects.toThrow(/SignatureDoesNotMatch/)
  await expect(refused).rejects.not.toThrow(/a-wrong-secret|test:tester/)
})

test('a wrong clock is refused with a reason, and does not count as a failure of the storage', async () => {
  const place = open('s3://maps')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3600_000 })
  try {
    await expect(place.read('x', { offset: 0, length: 1 })).rejects.toThrow(
      /^the server returns 403: RequestTimeTooSkewed/,
    )
  } finally {
    vi.useRealTimers()
  }
  expect(place.circuit).toBe('closed')
})
