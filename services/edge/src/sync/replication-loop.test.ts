import type { Sql } from '@gateway/store/connect.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterEach, expect, test } from 'vitest'
import { memoryReader } from '../testing/memory-reader.js'
import { CatalogReplica } from './catalog-replica.js'
import { type FollowLoopOptions, ReplicationLoop } from './replication-loop.js'
import type { StoreLink } from './store-link.js'

const NO_LOG = new Proxy({}, { get: () => () => {} }) as FollowLoopOptions['log']
const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const STATE = { revision: 1, mark: 'mark 1', epoch: 'epoch' }
const ROWS = [storedBasemap('world', [storedVersion('v1')])]

let loop: ReplicationLoop | null = null
afterEach(async () => void (await loop?.stop()))

/** Runs a loop with a bus of Postgres. @param onRead may throw, for a store that cannot be read */
function follow(
  onRead: () => void,
  more: Partial<FollowLoopOptions>,
  statement: (text: string) => Promise<unknown> = () => Promise.reject(AWAY),
) {
  const asked = (text: readonly string[]) => statement(text.join('?').trim())
  const sql = Object.assign(asked, {
    json: (value: unknown) => value,
    listen: async () => ({ unlisten: async () => {} }),
    notify: async () => {},
  })
  const store = {
    state: () => STATE,
    changes: () => ({ covered: true as const, changes: [], state: STATE }),
    basemaps: () => ROWS,
  }
  const tokens = { invalidate: () => {}, invalidateAll: () => {} }
  const follower = new CatalogReplica(
    memoryReader(store, undefined, onRead),
    tokens,
    () => performance.now(),
    () => {},
  )
  const loaded = new Promise<string>((onLoaded) => {
    loop = new ReplicationLoop({
      store: { query: (run: (sql: Sql) => Promise<unknown>) => run(sql as unknown as Sql) } as StoreLink,
      follower,
      redisUrl: null,
      staleMs: 5_000,
      trustMs: 300_000,
      presence: { id: 'id', host: 'host', pid: 1, version: '1', started_at: '' },
      traffic: () => ({}) as ReturnType<FollowLoopOptions['traffic']>,
      kept: async () => null,
      onLoaded,
      onNothingToLoad: () => {},
      onFollowed: () => {},
      log: NO_LOG,
      ...more,
    })
    loop.start()
  })
  return { follower, loaded }
}

test('a process starts from the kept state even during an unsuccessful reading of the store', async () => {
  const kept = { instanceId: 'i', state: STATE, basemaps: ROWS, vectors: [], styles: [], fonts: [], currentAt: 0 }
  const { follower, loaded } = follow(
    () => {
      throw AWAY
    },
    {
      kept: async () => {
        // Simulates a message of the bus.
        void follower.catchUp().catch(() => {})
        return kept
      },
    },
  )
  expect(await loaded).toBe('kept')
  expect([...follower.catalog.basemaps.keys()]).toEqual(['world'])
})

test('a process without a store and a kept catalog reports that once, and a process with either of them never', async () => {
  const reported: string[] = []
  const kept = { instanceId: 'i', state: STATE, basemaps: ROWS, vectors: [], styles: [], fonts: [], currentAt: 0 }
  const away = () => {
    throw AWAY
  }
  let attempts = 0
  const store = follow(() => {}, { onNothingToLoad: () => reported.push('with a store') })
  await store.loaded
  await loop?.stop()
  const fromKept = follow(away, { kept: async () => kept, onNothingToLoad: () => reported.push('with a kept catalog') })
  await fromKept.loaded
  await loop?.stop()
  const { loaded } = follow(() => attempts++ < 3 && away(), { onNothingToLoad: () => reported.push('with neither') })
  expect(await loaded).toBe('store')
  expect(reported).toEqual(['with neither'])
})

test('a process whose catalog was read between two polls, because of a bus message, reports it as loaded', async () => {
  let down = true
  const { follower, loaded } = follow(
    () => {
      if (down) throw AWAY
    },
    {
      kept: async () => {
        down = false
        await follower.catchUp()
        return null
      },
    },
  )
  expect(await loaded).toBe('store')
})

test('a process that stops withdraws its presence after all of its announcements', async () => {
  const done: string[] = []
  let finish = () => {}
  const told = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { loaded } = follow(
    () => {},
    {},
    async (text) => {
      if (text.startsWith('INSERT')) await told
      done.push(text.slice(0, 6))
    },
  )
  await loaded
  const stopping = loop?.stop()
  // The announcement is in progress, and takes effect later than a withdrawal over another connection would.
  await new Promise((resolve) => setImmediate(resolve))
  finish()
  expect(await stopping).toBe(true)
  expect(new Set(done.slice(0, -1))).toEqual(new Set(['INSERT']))
  expect(done.at(-1)).toBe('DELETE')
})

test('a process that cannot withdraw its presence says so', async () => {
  const { loaded } = follow(() => {}, {})
  await loaded
  expect(await loop?.stop()).toBe(false)
})

test('a process whose pool was replaced withdraws its presence from the store', async () => {
  const done: string[] = []
  const { loaded } = follow(
    () => {},
    {},
    async (text) => void done.push(text.slice(0, 6)),
  )
  await loaded
  loop?.storeReplaced()
  expect(await loop?.stop()).toBe(true)
  expect(done.at(-1)).toBe('DELETE')
})
