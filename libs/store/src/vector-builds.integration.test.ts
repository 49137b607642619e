import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { skipBuilds, VECTOR_BUILDS_CHANNEL } from './vector-builds.js'

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterAll(() => store.drop())

test('builds are skipped without a notification if none is pending, so that their loop waits', async () => {
  const heard: string[] = []
  const listening = await store.sql.listen(VECTOR_BUILDS_CHANNEL, (payload) => void heard.push(payload))
  expect(await store.sql.begin(skipBuilds)).toEqual([])
  await store.sql.notify(VECTOR_BUILDS_CHANNEL, 'the end')
  await expect.poll(() => heard).toContain('the end')
  expect(heard).toEqual(['the end'])
  await listening.unlisten()
})
