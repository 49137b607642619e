import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { insertCallback, insertPush, listDeliveries, readCallbackStates } from './deliveries.js'
import { KEPT_DAYS, KEPT_NEWEST, listAttempts, MAX_LISTED_ATTEMPTS, pruneDeliveries } from './delivery-retention.js'
import { upsertTarget } from './targets.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

let store: FreshStore
beforeEach(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
  const target = { code: 'portal', kind: 'http', url: 'http://10.0.0.1/', path: null, mode: 'notify' } as const
  await store.sql.begin((tx) => upsertTarget(tx, { ...target, name: undefined, enabled: undefined, secret: undefined }))
})
afterEach(() => store.drop())

const push = (kind: 'basemap_push' | 'vector_push') =>
  store.sql.begin((tx) =>
    insertPush(
      tx,
      { code: 'portal', lane: 'message' },
      kind === 'basemap_push' ? { kind, basemapCode: 'world', version: 'v1' } : { kind, vectorCode: 'roads' },
    ),
  )

/** Inserts a delivery that began and ended this many days ago, with an attempt. */
async function ended(id: string, daysAgo: number, status: 'succeeded' | 'failed' = 'succeeded'): Promise<void> {
  await store.sql`
    UPDATE deliveries SET status = ${status}, due_at = NULL, created_at = now() - make_interval(days => ${daysAgo}),
                          updated_at = now() - make_interval(days => ${daysAgo})
    WHERE id = ${id}`
  await attempts(id, 1)
}

async function attempts(id: string, count: number): Promise<void> {
  await store.sql`
    INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, message)
    SELECT ${id}, now(), 1, 'failed', n FROM generate_series(1, ${count}::int) AS n`
}

async function pushesThatEnded(count: number, kind: 'basemap_push' | 'vector_push', daysAgo: number) {
  for (let i = 0; i < count; i++) {
    const { id } = await push(kind)
    await ended(id, daysAgo, i % 2 === 0 ? 'succeeded' : 'failed')
  }
}

const count = async (kind: 'basemap_push' | 'vector_push') =>
  (await listDeliveries(store.sql, kind, { limit: 1, before: null })).total

const allAttempts = async () => {
  const [row] = await store.sql<{ n: number }[]>`SELECT count(*)::int AS n FROM delivery_attempts`
  return row?.n
}

test('push records that ended before the retention are deleted with their attempts; later ones stay', async () => {
  await pushesThatEnded(KEPT_NEWEST, 'basemap_push', 1)
  await pushesThatEnded(5, 'basemap_push', KEPT_DAYS - 1)
  await pushesThatEnded(7, 'basemap_push', KEPT_DAYS + 1)
  expect(await pruneDeliveries(store.sql)).toBe(7)
  expect(await count('basemap_push')).toBe(KEPT_NEWEST + 5)
  expect(await allAttempts()).toBe(KEPT_NEWEST + 5)
  expect(await pruneDeliveries(store.sql)).toBe(0)
})

test('the newest of each kind stay, however old they are', async () => {
  await pushesThatEnded(KEPT_NEWEST + 3, 'basemap_push', KEPT_DAYS + 1)
  await pushesThatEnded(2, 'vector_push', 10 * KEPT_DAYS)
  expect(await pruneDeliveries(store.sql)).toBe(3)
  expect(await count('basemap_push')).toBe(KEPT_NEWEST)
  expect(await count('vector_push')).toBe(2)
})

test('a delivery in progress stays, however old it is', async () => {
  const { id } = await push('basemap_push')
  await store.sql`UPDATE deliveries SET status = 'retrying', created_at = '2001-01-01', updated_at = '2001-01-01' WHERE id = ${id}`
  await pushesThatEnded(KEPT_NEWEST, 'basemap_push', 1)
  expect(await pruneDeliveries(store.sql)).toBe(0)
})

test('more than one batch is deleted in one run, and two simultaneous runs do not conflict', async () => {
  await pushesThatEnded(KEPT_NEWEST, 'vector_push', 1)
  await store.sql`
    INSERT INTO deliveries (kind, lane, destination, target_code, vector_code, status, due_at, created_at, updated_at)
    SELECT 'vector_push', 'message', 'portal', 'portal', 'roads', 'failed', NULL, '2001-01-01', '2001-01-01'
    FROM generate_series(1, 2500)`
  const deleted = await Promise.all([pruneDeliveries(store.sql), pruneDeliveries(store.sql)])
  expect(deleted[0] + deleted[1] + (await pruneDeliveries(store.sql))).toBe(2500)
  expect(await count('vector_push')).toBe(KEPT_NEWEST)
})

test('the outcome of a callback is kept as long as its job; its attempts are deleted', async () => {
  const jobId = randomUUID()
  await store.sql.begin((tx) => insertCallback(tx, { jobId, url: 'http://10.0.0.1/', destination: 'x', job: {} }))
  const [row] = await store.sql<{ id: string }[]>`SELECT id FROM deliveries WHERE job_id = ${jobId}`
  const id = row?.id as string
  await ended(id, KEPT_DAYS + 1)
  expect(await pruneDeliveries(store.sql)).toBe(0)
  expect((await readCallbackStates(store.sql, [jobId])).get(jobId)).toMatchObject({ status: 'succeeded' })
  expect(await listAttempts(store.sql, id)).toEqual([])
})

test('the newest attempts of a delivery are kept, as many as are listed', async () => {
  const { id } = await push('basemap_push')
  await attempts(id, MAX_LISTED_ATTEMPTS + 10)
  const listed = await listAttempts(store.sql, id)
  await pruneDeliveries(store.sql)
  expect(await listAttempts(store.sql, id)).toEqual(listed)
  expect(await allAttempts()).toBe(MAX_LISTED_ATTEMPTS)
})
