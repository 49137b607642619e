import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tryLockSession } from './lock-session.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

const LOCK = 77

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterAll(() => store.drop())

test('a lock is free once it has been given back, however slow the database is to end the session', async () => {
  const held = await tryLockSession(store.sql, LOCK)
  expect(await tryLockSession(store.sql, LOCK)).toBeNull()
  const [holder] = await store.sql<{ pid: number }[]>`
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LOCK}
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  const pid = holder?.pid as number
  process.kill(pid, 'SIGSTOP')
  const released = held?.release()
  await sleep(1_500)
  const early = await Promise.race([released?.then(() => 'released'), sleep(0, 'not yet')])
  process.kill(pid, 'SIGCONT')
  await released
  expect(early).toBe('not yet')
  const next = await tryLockSession(store.sql, LOCK)
  expect(next).not.toBeNull()
  await next?.release()
})
