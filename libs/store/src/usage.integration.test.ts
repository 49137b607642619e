import { randomUUID } from 'node:crypto'
import type { UsageKind, UsageRow } from '@gateway/contracts/usage.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { addUsage, pruneUsage, readUsage, readUsageCells } from './usage.js'

const NOON = Date.UTC(2026, 2, 1, 12)
const HOUR = 3_600_000

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
beforeEach(async () => {
  await store.sql`TRUNCATE usage_hours, usage_writers, usage_cells, basemaps, scan_sources CASCADE`
})
afterAll(() => store.drop())

const row = (kind: UsageKind, id: string, at: number, requests = 1): UsageRow => ({
  kind,
  id,
  at,
  requests,
  tiles: requests,
  tile_404: 0,
  refused: 0,
  bytes: 1000 * requests,
})

async function read(by: UsageKind, more: Partial<Parameters<typeof readUsage>[1]> = {}) {
  const range = { from: new Date(NOON - 48 * HOUR), to: new Date(NOON + 48 * HOUR) }
  const { items } = await readUsage(store.sql, { by, step: 'hour', ...range, ...more })
  return items.map(({ id, at, requests, bytes }) => [id, at.slice(0, 13), requests, bytes])
}

test('usage of several edges adds up by hour, by day and in total', async () => {
  const [one, other] = [randomUUID(), randomUUID()]
  await addUsage(store.sql, one, 1, [row('basemap', 'alps', NOON, 2), row('basemap', 'rhine', NOON)])
  await addUsage(store.sql, other, 1, [row('basemap', 'alps', NOON, 3), row('token', 'x', NOON)])
  await addUsage(store.sql, one, 2, [row('basemap', 'alps', NOON + HOUR), row('basemap', 'alps', NOON + 12 * HOUR)])
  expect(await read('basemap')).toEqual([
    ['alps', '2026-03-01T12', 5, 5000],
    ['rhine', '2026-03-01T12', 1, 1000],
    ['alps', '2026-03-01T13', 1, 1000],
    ['alps', '2026-03-02T00', 1, 1000],
  ])
  expect(await read('basemap', { step: 'day', id: 'alps' })).toEqual([
    ['alps', '2026-03-01T00', 6, 6000],
    ['alps', '2026-03-02T00', 1, 1000],
  ])
  const until = { step: 'total', sort: '-requests', to: new Date(NOON + 12 * HOUR) } as const
  expect(await read('basemap', until)).toEqual([
    ['alps', '2026-02-27T12', 6, 6000],
    ['rhine', '2026-02-27T12', 1, 1000],
  ])
})

test('a batch that is sent again, also while the first is under way, counts once', async () => {
  const writer = randomUUID()
  const batch = [row('basemap', 'alps', NOON), row('basemap', 'rhine', NOON)]
  await Promise.all([1, 2, 3, 4].map(() => addUsage(store.sql, writer, 7, batch)))
  await addUsage(store.sql, writer, 7, batch)
  await addUsage(store.sql, writer, 8, [row('basemap', 'alps', NOON)])
  expect(await read('basemap')).toEqual([
    ['alps', '2026-03-01T12', 2, 2000],
    ['rhine', '2026-03-01T12', 1, 1000],
  ])
})

test('edges that write the same rows in another order at the same time do not wait for each other in a circle', async () => {
  const rows = Array.from({ length: 300 }, (_, i) => row('token', `token-${i}`, NOON))
  const writers = Array.from({ length: 8 }, () => randomUUID())
  await Promise.all(writers.map((w, i) => addUsage(store.sql, w, 1, i % 2 === 0 ? rows : rows.toReversed())))
  expect(new Set((await read('token')).map(([, , requests]) => requests))).toEqual(new Set([8]))
})

test('nothing is accounted to the tokens of previews', async () => {
  const [{ id }] = await store.sql<[{ id: string }]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, preview)
    VALUES ('preview', 'bmp_12345678', sha256('x'), '{}', '{}', '{read}', true) RETURNING id`
  await addUsage(store.sql, randomUUID(), 1, [row('token', id, NOON), row('token', randomUUID(), NOON)])
  const { total } = await readUsage(store.sql, { by: 'token', step: 'hour', from: new Date(0), to: new Date(2 * NOON) })
  expect(total).toBe(1)
})

test('usage that is older than it is kept is deleted', async () => {
  const now = Math.floor(Date.now() / HOUR) * HOUR
  const ages = [0, 9, 11].map((days) => row('vector', `${days} days`, now - days * 24 * HOUR))
  await addUsage(store.sql, randomUUID(), 1, ages)
  expect(await pruneUsage(store.sql, 10)).toBe(1)
  const left = await read('vector', { from: new Date(0), to: new Date(now + HOUR) })
  expect(left.map(([id]) => id)).toEqual(['9 days', '0 days'])
})

test('cells of the map add up by the day, over versions that there still are, and are kept for a month', async () => {
  await store.sql`INSERT INTO scan_sources (code, name, kind, path) VALUES ('maps', 'Maps', 'basemap', '/maps')`
  await store.sql`INSERT INTO basemaps (code, name, tile_base_url, source_code) VALUES ('alps', 'Alps', 'http://x', 'maps')`
  for (const version of ['v1', 'v2']) {
    await store.sql`INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, path, fingerprint)
      VALUES ('alps', ${version}, 'xyz', 'png', 'png', 256, 0, 9, '/maps', 'x')`
  }
  const DAY = 24 * HOUR
  const today = Math.floor(Date.now() / DAY) * DAY
  const cell = (id: string, at: number, requests: number, missing = 0): UsageRow => ({
    ...row('basemap', id, at, requests),
    kind: 'cell',
    tile_404: missing,
  })
  const writer = randomUUID()
  const rows = [
    cell('alps/v1/6/33/22', today, 5, 2),
    cell('alps/v2/6/33/22', today, 3),
    cell('alps/v3/6/33/22', today, 9),
  ]
  for (let i = 0; i < 2; i++) await addUsage(store.sql, writer, 1, rows)
  await addUsage(store.sql, writer, 2, [cell('alps/v1/6/33/22', today, 1), cell('alps/v1/5/1/2', today - DAY, 4, 4)])
  await addUsage(store.sql, writer, 3, [
    cell('alps/v1/0/0/0', today - 40 * DAY, 7, 7),
    row('basemap', 'alps', today, 2),
  ])
  const readCells = (more: Partial<Parameters<typeof readUsageCells>[1]>) =>
    readUsageCells(store.sql, {
      basemap: 'alps',
      from: new Date(today - 60 * DAY),
      to: new Date(today + DAY),
      kind: 'requests',
      limit: 10,
      ...more,
    })
  const near = { tileMatrixSet: 'WebMercatorQuad', z: 6, x: 33, y: 22 }
  expect(await readCells({ from: new Date(today), version: 'v1' })).toEqual({
    cells: [{ ...near, requests: 6, missing: 2 }],
    total: 1,
    requests: 6,
  })
  expect(await readCells({ limit: 1 })).toEqual({
    cells: [{ ...near, requests: 9, missing: 2 }],
    total: 3,
    requests: 20,
  })
  expect(await pruneUsage(store.sql, 400)).toBe(1)
  const misses = await readCells({ kind: 'misses' })
  expect(misses.cells.map(({ z, missing }) => [z, missing])).toEqual([
    [5, 4],
    [6, 2],
  ])
  expect(misses.requests).toBe(6)
  expect(await read('basemap', { to: new Date(today + DAY) })).toEqual([['alps', expect.any(String), 2, 2000]])
})
