import { randomUUID } from 'node:crypto'
import type { UsageBy, UsageRow } from '@gateway/contracts/usage.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { addUsage, readUsage } from './usage.js'
import { addUsageMonths, BY_MONTH, readMonths } from './usage-months.js'
import { packUsage, pruneUsage } from './usage-retention.js'

const HOUR = 3_600_000
const [JUNE, JULY] = [Date.UTC(2099, 5, 30, 23), Date.UTC(2099, 6, 1)]

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterAll(() => store.drop())

const row = (at: number, kind: UsageRow['kind'] = 'vector', id = 'roads'): UsageRow => ({
  ...{ kind, id, at, requests: 1, tiles: 1, tile_404: 0, refused: 0, bytes: 1000 },
})
const months = async () => (await readMonths(store.sql, BY_MONTH[0])).map(({ name }) => name)
const rowsOf = async (table: string) => (await store.sql`SELECT FROM ${store.sql(table)}`).length
const read = async (by: UsageBy = 'vector') => {
  const range = { from: new Date(JUNE), to: new Date(JULY + HOUR) }
  return (await readUsage(store.sql, { by, step: 'hour', ...range })).items.map(({ at, requests }) => [at, requests])
}

test('usage moves into the table of its month once there is one, and old months are packed once and dropped', async () => {
  expect(await months()).toEqual(['usage_hours', 'usage_rest'])
  const writer = randomUUID()
  const pair = row(JULY, 'token,vector', `${randomUUID()}/roads`)
  await addUsage(store.sql, writer, 1, [row(JUNE), row(JULY), pair])
  expect(await rowsOf('usage_rest')).toBe(2)
  await addUsageMonths(store.sql, new Date(Date.UTC(2099, 6, 15)))
  await addUsageMonths(store.sql, new Date(Date.UTC(2099, 7, 15)))
  const added = ['usage_2099_07', 'usage_2099_08', 'usage_2099_09', 'usage_2099_10', 'usage_2099_11']
  expect(await months()).toEqual(['usage_hours', ...added, 'usage_rest'])
  const places = ['usage_rest', 'usage_2099_07', 'usage_pairs_2099_07']
  expect(await Promise.all(places.map(rowsOf))).toEqual([1, 1, 1])

  await addUsage(store.sql, writer, 2, [row(JULY), row(JUNE)])
  const both = [
    ['2099-06-30T23:00:00.000Z', 2],
    ['2099-07-01T00:00:00.000Z', 2],
  ]
  expect(await read()).toEqual(both)

  // A month is packed when all of its hours are days.
  expect(await packUsage(store.sql)).toEqual([])
  await store.sql`INSERT INTO usage_rolled_up VALUES ('2099-08-01T00:00:00Z')`
  const packed = ['usage_hours', 'usage_2099_07', 'usage_pairs', 'usage_pairs_2099_07']
  expect(await packUsage(store.sql)).toEqual(packed)
  expect(await packUsage(store.sql)).toEqual([])
  expect(await read()).toEqual(both)

  const daysUntilAutumn = Math.ceil((Date.UTC(2099, 9, 15) - Date.now()) / (24 * HOUR))
  // The row of June is in the table of all other times, whose rows are deleted one by one.
  expect(await pruneUsage(store.sql, -daysUntilAutumn)).toBe(1)
  expect(await months()).toEqual(['usage_2099_10', 'usage_2099_11', 'usage_rest'])
  expect(await store.sql`SELECT FROM usage_packed`).toEqual([])
  expect([await read(), await read('token,vector')]).toEqual([[], []])
})
