import events from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildIndex } from '../index-file/build-index.js'
import { INDEX_FILE } from '../index-file/index-description.js'
import { GZIP_HEAD, GzipParts, NO_TEXT } from './gzip-parts.js'
import type { Chunk } from './items-query.js'
import { parseItemsQuery, type QueriedIndex } from './parameters.js'
import { QueriesBusy, QueryAbandoned, QueryProcesses, QueryTimeout } from './query-processes.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-queries-'))
/** A time limit that no load of the machine reaches. */
const HOUR_MS = 3_600_000
const COUNT = 4_000
let index: QueriedIndex
const all = () => parseItemsQuery('limit=10000', '', index)
/** The query with the longest step: a full scan, with a call of JavaScript for each feature. */
const slow = () => parseItemsQuery(new URLSearchParams({ filter: "CASEI(name) = 'none'" }).toString(), '', index)

/** A query whose only step takes twenty times as long. */
const heavy = () => {
  const filter = Array.from({ length: 20 }, (_, i) => `CASEI(name) = 'none ${i}'`).join(' OR ')
  return parseItemsQuery(new URLSearchParams({ filter }).toString(), '', index)
}

beforeAll(async () => {
  const features = Array.from({ length: COUNT }, (_, i) => ({
    type: 'Feature',
    properties: { i, name: `É ${i} ${'long '.repeat(40)}` },
    geometry: { type: 'Point', coordinates: [i / 100, 10] },
  }))
  fs.writeFileSync(join(home, 'places.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  const source = { root: home, path: join(home, 'places.geojson') }
  const rest = { fingerprint: null, encoding: null, code: 'places', crs: 'OGC:CRS84', limits: { memoryMb: 1500 } }
  const description = await buildIndex({ source, kind: 'geojson', output: home, ...rest })
  index = { description, revision: 'r', file: join(home, INDEX_FILE) }
})
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

/** The numbers of the features in chunks of GeoJSON. */
const numbersIn = (chunks: readonly Chunk[]) =>
  (JSON.parse(`[${Buffer.concat(chunks.map(({ bytes }) => bytes))}]`) as readonly { properties: { i: number } }[]).map(
    ({ properties }) => properties.i,
  )
const EVERY = Array.from({ length: COUNT }, (_, i) => i)

async function chunksOf(run: AsyncGenerator<Chunk, void>, between: () => Promise<unknown> = async () => {}) {
  const chunks: Chunk[] = []
  for await (const chunk of run) {
    chunks.push(chunk)
    await between()
  }
  return chunks
}

test('clients that do not read take no place from the others, and get everything when they read on', async () => {
  const processes = new QueryProcesses()
  const waiting: { run: ReturnType<QueryProcesses['run']>; first: Chunk }[] = []
  while (waiting.length < 300) {
    const run = processes.run(all())
    waiting.push({ run, first: (await run.next()).value as Chunk })
  }
  expect(numbersIn(await chunksOf(processes.run(all())))).toEqual(EVERY)
  for (const { run, first } of waiting.slice(0, 5)) expect(numbersIn([first, ...(await chunksOf(run))])).toEqual(EVERY)
  for (const { run } of waiting) await run.return()
  processes.close()
})

test.each(['', '&sortby=-i', '&properties=i'])(
  'a query that its process has forgotten continues where it was: limit=10000%s',
  async (more) => {
    const processes = new QueryProcesses(HOUR_MS, 0)
    const query = parseItemsQuery(`limit=10000${more}`, '', index)
    // Timers of 0 ms have run by then.
    const chunks = await chunksOf(processes.run(query), () => sleep(5))
    expect(chunks.length).toBeGreaterThan(3)
    expect(numbersIn(chunks)).toEqual(more.includes('sortby') ? EVERY.toReversed() : EVERY)
    processes.close()
  },
)

test.each(['', '&sortby=-i'])(
  'a compressed response that a process has forgotten is one text: limit=10000%s',
  async (more) => {
    const processes = new QueryProcesses(HOUR_MS, 0)
    const query = { ...parseItemsQuery(`limit=10000${more}`, '', index), packedAfter: NO_TEXT }
    const chunks = await chunksOf(processes.run(query), () => sleep(5))
    const end = new GzipParts(chunks.at(-1)?.sum ?? NO_TEXT).end()
    const text = gunzipSync(Buffer.concat([GZIP_HEAD, ...chunks.map(({ bytes }) => bytes), end]))
    const whole = Buffer.concat(
      (await chunksOf(processes.run({ ...query, packedAfter: undefined }))).map(({ bytes }) => bytes),
    )
    expect(chunks.length).toBeGreaterThan(3)
    expect(text.equals(whole)).toBe(true)
    processes.close()
  },
)

test('steps of clients that have gone are withdrawn, and more than 250 waiting steps of one caller are refused', async () => {
  const processes = new QueryProcesses()
  const first = processes.run(slow()).next()
  const clients = Array.from({ length: 300 }, () => new AbortController())
  const outcomes = Promise.allSettled(clients.map(({ signal }) => processes.run(slow(), signal).next()))
  for (const client of clients) client.abort()
  const reasons = (await outcomes).map((one) => (one.status === 'rejected' ? one.reason.constructor : null))
  expect(new Set(reasons)).toEqual(new Set([QueryAbandoned, QueriesBusy]))
  expect(reasons.filter((reason) => reason === QueriesBusy).length).toBe(51)
  expect((await first).value).toMatchObject({ state: 'end', count: 0 })
  expect(numbersIn(await chunksOf(processes.run(all())))).toEqual(EVERY)
  processes.close()
})

test('a query beyond its time is ended', async () => {
  const processes = new QueryProcesses(1)
  await expect(processes.run(slow()).next()).rejects.toThrow(QueryTimeout)
  processes.close()
})

test('a step waits no longer than a query may take', async () => {
  const processes = new QueryProcesses(20)
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => processes.run(heavy()).next()))
  const reasons = outcomes.map((one) => (one.status === 'rejected' ? one.reason.constructor : null))
  expect(new Set(reasons)).toEqual(new Set([QueryTimeout, QueriesBusy]))
  processes.close()
})

test('a query does not wait for the many queries of another caller', async () => {
  const processes = new QueryProcesses(600_000)
  let ended = 0
  const others = Array.from({ length: 20 }, () =>
    chunksOf(processes.run(heavy(), undefined, 'many')).then(() => ended++),
  )
  const page = parseItemsQuery('limit=100', '', index)
  expect(numbersIn(await chunksOf(processes.run(page, undefined, 'one')))).toEqual(EVERY.slice(0, 100))
  expect(ended).toBeLessThan(10)
  await Promise.all(others)
  processes.close()
})

test('half of the places remain for other callers', async () => {
  const processes = new QueryProcesses(600_000)
  const gone = new AbortController()
  events.setMaxListeners(0, gone.signal)
  const many = Promise.allSettled(Array.from({ length: 400 }, () => processes.run(heavy(), gone.signal, 'many').next()))
  expect(numbersIn(await chunksOf(processes.run(all(), undefined, 'one')))).toEqual(EVERY)
  gone.abort()
  const reasons = (await many).map((one) => (one.status === 'rejected' ? one.reason.constructor : null))
  expect(reasons.filter((reason) => reason === QueriesBusy).length).toBe(150)
  processes.close()
})
