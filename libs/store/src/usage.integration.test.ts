import { randomUUID } from 'node:crypto'
import type { UsageBy, UsageRow } from '@gateway/contracts/usage.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { readToken } from './tokens.js'
import { addUsage, readUsage, readUsageCells } from './usage.js'
import { pruneUsage, rollUpUsage } from './usage-retention.js'

const NOON = Date.UTC(2026, 2, 1, 12)
const HOUR = 3_600_000

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
beforeEach(async () => {
  await store.sql`TRUNCATE usage_rolled_up, usage_packed, usage_by_month, usage_pairs_by_month, usage_writers, tokens, usage_cells, usage_cell_days, basemaps, scan_sources CASCADE`
})
afterAll(() => store.drop())

const row = (kind: UsageBy, id: string, at: number, requests = 1): UsageRow => ({
  kind,
  id,
  at,
  requests,
  tiles: requests,
  tile_404: 0,
  refused: 0,
  bytes: 1000 * requests,
})

async function read(by: UsageBy, more: Partial<Parameters<typeof readUsage>[1]> = {}) {
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

test('a batch that is sent again, even while the first is in progress, counts once', async () => {
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

test('edges that write the same rows in different orders at the same time do not deadlock', async () => {
  const rows = Array.from({ length: 300 }, (_, i) => row('token', `token-${i}`, NOON))
  const writers = Array.from({ length: 8 }, () => randomUUID())
  await Promise.all(writers.map((w, i) => addUsage(store.sql, w, 1, i % 2 === 0 ? rows : rows.toReversed())))
  expect(new Set((await read('token')).map(([, , requests]) => requests))).toEqual(new Set([8]))
})

const addToken = async (name: string, preview: boolean) => {
  const [{ id }] = await store.sql<[{ id: string }]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, preview)
    VALUES (${name}, 'bmp_12345678', sha256(convert_to(${name}, 'UTF8')), '{}', '{}', '{read}', ${preview}) RETURNING id`
  return id
}

test('a token and a map have a common usage, found by either, and previews are in no pair', async () => {
  const [id, preview] = [await addToken('Harbour', false), await addToken('preview', true)]
  await addUsage(store.sql, randomUUID(), 1, [
    row('token,basemap', `${id}/alps`, NOON, 2),
    row('token,basemap', `${id}/rhine`, NOON + HOUR),
    row('token,basemap', `${preview}/alps`, NOON),
    row('token,basemap', 'signed/alps', NOON, 5),
    row('token,vector', `${id}/alps`, NOON, 9),
  ])
  await addUsage(store.sql, randomUUID(), 1, [row('token,basemap', `${id}/alps`, NOON, 3)])
  const mine = [`${id}/alps`, '2026-03-01T12', 5, 5000]
  expect(await read('token,basemap', { code: 'alps', sort: '-requests', step: 'day' })).toEqual(
    expect.toSatisfy((rows: unknown[][]) => rows.length === 2 && rows.every(([, , requests]) => requests === 5)),
  )
  expect(await read('token,basemap', { token: id })).toEqual([mine, [`${id}/rhine`, '2026-03-01T13', 1, 1000]])
  expect(await read('token,basemap', { token: id, code: 'alps' })).toEqual([mine])
  expect(await read('token,vector')).toEqual([[`${id}/alps`, '2026-03-01T12', 9, 9000]])
  expect(await pruneUsage(store.sql, 1)).toBe(4)
})

test('refusals add up by reason, with the last one of each token, and a batch that is sent again counts once', async () => {
  const [id, preview] = [await addToken('Harbour', false), await addToken('preview', true)]
  const refused = (kind: UsageBy, name: string, refusals: UsageRow['refusals'] & object): UsageRow => ({
    ...row(kind, name, NOON),
    refused: Object.values(refusals).reduce((sum, { requests }) => sum + requests, 0),
    refusals,
  })
  const first = { origin: { requests: 3, lastMs: NOON + 2 }, rate: { requests: 1, lastMs: NOON + 1 } }
  const writer = randomUUID()
  const batch = [
    refused('token', id, first),
    refused('token,basemap', `${id}/alps`, first),
    refused('basemap', 'alps', first),
    refused('token', preview, first),
    refused('token', randomUUID(), first),
  ]
  for (let i = 0; i < 2; i++) await addUsage(store.sql, writer, 1, batch)
  await addUsage(store.sql, writer, 2, [refused('token', id, { origin: { requests: 4, lastMs: NOON } })])
  const range = { from: new Date(NOON), to: new Date(NOON + HOUR), step: 'hour' } as const
  const reasons = async (by: UsageBy, only: object) => (await readUsage(store.sql, { by, ...range, ...only })).items
  expect(await reasons('token', { id })).toMatchObject([{ refused: 8, refused_by: { origin: 7, rate: 1 } }])
  expect(await reasons('basemap', {})).toMatchObject([{ refused: 4, refused_by: { origin: 3, rate: 1 } }])
  expect(await reasons('token,basemap', {})).toMatchObject([
    { token_name: 'Harbour', refused_by: { origin: 3, rate: 1 } },
  ])
  expect(await readToken(store.sql, id)).toMatchObject({
    last_refused_at: '2026-03-01T12:00:00.002Z',
    refused_by: {
      origin: { requests: 7, last_at: '2026-03-01T12:00:00.002Z' },
      rate: { requests: 1, last_at: '2026-03-01T12:00:00.001Z' },
    },
  })
  expect((await store.sql`SELECT DISTINCT token_id FROM token_refusals`).map(({ token_id }) => token_id)).toEqual([id])
})

test('tokens of previews have no usage', async () => {
  const [{ id }] = await store.sql<[{ id: string }]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, preview)
    VALUES ('preview', 'bmp_12345678', sha256('x'), '{}', '{}', '{read}', true) RETURNING id`
  await addUsage(store.sql, randomUUID(), 1, [row('token', id, NOON), row('token', randomUUID(), NOON)])
  const { total } = await readUsage(store.sql, { by: 'token', step: 'hour', from: new Date(0), to: new Date(2 * NOON) })
  expect(total).toBe(1)
})

test('usage beyond its retention is deleted', async () => {
  const now = Math.floor(Date.now() / HOUR) * HOUR
  const ages = [0, 9, 11].map((days) => row('vector', `${days} days`, now - days * 24 * HOUR))
  await addUsage(store.sql, randomUUID(), 1, ages)
  expect(await pruneUsage(store.sql, 10)).toBe(1)
  const left = await read('vector', { from: new Date(0), to: new Date(now + HOUR) })
  expect(left.map(([id]) => id)).toEqual(['9 days', '0 days'])
})

test('old hours become days, with the same sums and totals', async () => {
  const writer = randomUUID()
  const today = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR
  const hours = [0, 5, 23].flatMap((hour) =>
    [39, 40, 41, 60].map((days) => row('vector', 'roads', today - days * 24 * HOUR + hour * HOUR, hour + days)),
  )
  await addUsage(store.sql, writer, 1, [
    ...hours,
    { ...hours[3], kind: 'token,vector', id: `${randomUUID()}/roads` } as UsageRow,
  ])
  const all = { from: new Date(0), to: new Date(today + 24 * HOUR) }
  const sums = async () => [
    await read('vector', { ...all, step: 'day' }),
    await read('vector', { ...all, step: 'total' }),
  ]
  const before = await sums()
  // Two hours each from 41 and from 60 days ago, and none of the pair at midnight.
  expect(await rollUpUsage(store.sql)).toBe(4)
  expect(await sums()).toEqual(before)
  const left = await read('vector', all)
  expect(left.map(([, at]) => at)).toHaveLength(8)
  // Later usage is still counted, without duplicates.
  await addUsage(store.sql, writer, 2, [row('vector', 'roads', today - 50 * 24 * HOUR + HOUR, 1)])
  expect(await rollUpUsage(store.sql)).toBe(0)
  expect(await rollUpUsage(store.sql, 30)).toBe(4)
})

test('usage of a basemap carries the name that an operator set instead of the scanned one', async () => {
  await store.sql`INSERT INTO scan_sources (code, name, kind, path) VALUES ('maps', 'Maps', 'basemap', '/maps')`
  await store.sql`INSERT INTO basemaps (code, name, set_name, tile_base_url, source_code)
    VALUES ('alps', 'scanned', 'The Alps', 'http://x', 'maps'), ('rhine', 'Rhine', NULL, 'http://x', 'maps')`
  await addUsage(store.sql, randomUUID(), 1, [row('basemap', 'alps', NOON), row('basemap', 'rhine', NOON)])
  const range = { from: new Date(NOON), to: new Date(NOON + HOUR), step: 'hour' } as const
  const { items } = await readUsage(store.sql, { by: 'basemap', sort: 'id', ...range })
  expect(items.map(({ name }) => name)).toEqual(['The Alps', 'Rhine'])
})

test('cells of the map add up by day, over existing versions, and are kept for a month', async () => {
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

test('a reader who requests tiles all over the world adds no more cells to a day than the limit', async () => {
  const writer = randomUUID()
  const cells = (from: number, n: number, at = NOON) =>
    Array.from({ length: n }, (_, i) => ({ ...row('basemap', `alps/v1/20/${from + i}/7`, at), kind: 'cell' as const }))
  const days = async () =>
    (
      await store.sql<{ day: string; cells: number; requests: number; counted: number }[]>`
      SELECT day::text, count(*)::int AS cells, sum(requests)::int AS requests,
        (SELECT d.cells::int FROM usage_cell_days AS d WHERE d.day = c.day) AS counted
      FROM usage_cells AS c GROUP BY day ORDER BY day`
    ).map(Object.values)
  await addUsage(store.sql, writer, 1, cells(0, 60), 100)
  await addUsage(store.sql, writer, 2, cells(50, 60), 100)
  // One batch may exceed the limit, by its own length.
  expect(await days()).toEqual([['2026-03-01', 110, 120, 110]])
  await addUsage(store.sql, writer, 3, [...cells(100, 500), row('basemap', 'alps', NOON)], 100)
  await addUsage(store.sql, writer, 4, cells(0, 20, NOON + 24 * HOUR), 100)
  // Existing cells of the day are still counted, and so is all other usage.
  expect(await days()).toEqual([
    ['2026-03-01', 110, 130, 110],
    ['2026-03-02', 20, 20, 20],
  ])
  expect(await read('basemap')).toEqual([['alps', '2026-03-01T12', 1, 1000]])
  await pruneUsage(store.sql, 1)
  expect(await store.sql`SELECT FROM usage_cell_days`).toHaveLength(0)
})
