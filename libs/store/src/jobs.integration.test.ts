import { randomUUID } from 'node:crypto'
import { coded } from '@gateway/contracts/messages.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  claimExclusiveJob,
  claimQueuedJob,
  type ExclusiveJob,
  endExclusiveJob,
  failedBy,
  finishJob,
  holdLease,
  type JobLease,
  renewLease,
  returnJob,
} from './jobs.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

let store: FreshStore
beforeEach(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterEach(() => store.drop())

const SCAN: ExclusiveJob = { kind: 'scan', code: '' }
const PROGRESS = { progress: 40, phase: 'half' }

const claim = (job = SCAN, owner = randomUUID()) => claimExclusiveJob(store.sql, job, owner, 60)
const renewed = (lease: JobLease) => renewLease(store.sql, lease, 60, PROGRESS)
const expire = () => store.sql`UPDATE jobs SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL`

async function queued(): Promise<string[]> {
  return [await insertSlice('a'), await insertSlice('b'), await insertExport()]
}

async function insertSlice(code: string): Promise<string> {
  const [row] = await store.sql<{ id: string }[]>`
    INSERT INTO slice_jobs (code, name, source_paths, target_code, zoom_min, zoom_max, tile_size, tile_format)
    VALUES (${code}, 'n', ARRAY['/a.tif'], 'city', 0, 1, 256, 'webp') RETURNING id`
  return row?.id ?? ''
}

async function insertExport(): Promise<string> {
  const [row] = await store.sql<{ id: string }[]>`
    INSERT INTO exports (basemap_code, version, zoom_min, zoom_max, requested_by) VALUES ('city', 'v1', 0, 1, 'ann') RETURNING id`
  return row?.id ?? ''
}

test('an exclusive job has one runner at a time, and other jobs have their own', async () => {
  const claims = await Promise.all(Array.from({ length: 10 }, () => claim()))
  const [lease] = claims.filter((one) => one !== null)
  expect(claims.filter((one) => one !== null)).toHaveLength(1)
  expect(await claim({ kind: 'vector_build', code: 'roads' })).not.toBeNull()
  expect(await endExclusiveJob(store.sql, lease as JobLease)).toBe(true)
  expect(await claim()).not.toBeNull()
})

test('an expired lease is taken over once, and its former holder can write nothing', async () => {
  const first = (await claim()) as JobLease
  await expire()
  const takeovers = await Promise.all([claim(), claim()])
  expect(takeovers.filter((one) => one !== null)).toHaveLength(1)
  expect(await renewed(first)).toBe('lost')
  expect(await endExclusiveJob(store.sql, first)).toBe(false)
  expect(await store.sql.begin((tx) => holdLease(tx, first))).toBe(false)
})

test('a lease that the clock of the store has left far in the future is taken over', async () => {
  const ahead = () => store.sql`UPDATE jobs SET lease_until = now() + interval '2 hours' WHERE lease_until IS NOT NULL`
  await queued()
  const first = (await claim()) as JobLease
  const slice = (await claimQueuedJob(store.sql, 'slice_jobs', randomUUID(), 60)) as JobLease
  // A holder renews its lease by the clock that counts now.
  await ahead()
  expect([await renewed(first), await renewed(slice)]).toEqual(['held', 'held'])
  expect([await claim(), await claimQueuedJob(store.sql, 'slice_jobs', randomUUID(), 60)]).toEqual([null, null])
  await ahead()
  expect((await claim())?.fence).toBe(first.fence + 1)
  expect((await claimQueuedJob(store.sql, 'slice_jobs', randomUUID(), 60))?.fence).toBe(slice.fence + 1)
})

test('a takeover waits for a transaction that holds the lease, and renewals do not', async () => {
  const first = (await claim()) as JobLease
  const order: string[] = []
  let taken: Promise<unknown> = Promise.resolve()
  await store.sql.begin(async (tx) => {
    expect(await holdLease(tx, first)).toBe(true)
    expect(await renewed(first)).toBe('held')
    await expire()
    taken = claim().then((lease) => order.push(lease === null ? 'refused' : 'taken over'))
    await waitingForLock()
    order.push('committed')
  })
  await taken
  expect(order).toEqual(['committed', 'taken over'])
})

async function waitingForLock(): Promise<void> {
  for (let rows = 0; rows === 0; ) {
    const found = await store.sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    rows = found.length
  }
}

test('queued jobs of a table run one at a time in order, independently of the other table', async () => {
  const [first, second, exported] = await queued()
  const runner = randomUUID()
  const lease = (await claimQueuedJob(store.sql, 'slice_jobs', runner, 60)) as JobLease
  expect(lease.id).toBe(first)
  expect(await claimQueuedJob(store.sql, 'slice_jobs', randomUUID(), 60)).toBeNull()
  expect((await claimQueuedJob(store.sql, 'exports', runner, 60))?.id).toBe(exported)
  expect(await renewed(lease)).toBe('held')
  expect(await store.sql.begin((tx) => finishJob(tx, lease, 'succeeded'))).toBe(true)
  expect((await claimQueuedJob(store.sql, 'slice_jobs', runner, 60))?.id).toBe(second)
  const rows = await store.sql`SELECT kind, status, progress FROM jobs ORDER BY kind, status DESC`
  expect(rows).toEqual([
    { kind: 'export', status: 'running', progress: 0 },
    { kind: 'slice', status: 'succeeded', progress: 100 },
    { kind: 'slice', status: 'running', progress: 0 },
  ])
})

test('a returned job starts again with a new fence, and the old lease cannot end it', async () => {
  await queued()
  const first = (await claimQueuedJob(store.sql, 'exports', randomUUID(), 60)) as JobLease
  await renewed(first)
  await returnJob(store.sql, first)
  const second = (await claimQueuedJob(store.sql, 'exports', randomUUID(), 60)) as JobLease
  expect([second.id, second.fence]).toEqual([first.id, first.fence + 1])
  const said = coded('export_room_full')
  expect(await store.sql.begin((tx) => finishJob(tx, first, failedBy(said)))).toBe(false)
  expect(await store.sql.begin((tx) => finishJob(tx, second, failedBy(said)))).toBe(true)
  expect(await store.sql`SELECT status, message_coded, progress FROM exports`).toEqual([
    { status: 'failed', message_coded: said, progress: 0 },
  ])
})
