import type { LoggedChange } from '@gateway/contracts/change.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { changesSince, currentState } from './change-log.js'
import type { Transaction } from './connect.js'
import { GroupCommit } from './group-commit.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { WriteWatch, writeWatch } from './write-fence.js'

let store: FreshStore
let published: (readonly LoggedChange[])[]
let group: GroupCommit
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
  await store.sql`CREATE TABLE rows (name text PRIMARY KEY, value integer NOT NULL DEFAULT 0)`
})
beforeEach(async () => {
  published = []
  group = new GroupCommit(store.sql, (changes) => published.push(changes))
  await store.sql`TRUNCATE rows`
  await store.sql`INSERT INTO rows SELECT 'row ' || n FROM generate_series(1, 20) AS n`
})
afterAll(() => store.drop())

const add = (name: string) => async (tx: Transaction) => {
  const [row] = await tx<{ value: number }[]>`SELECT value FROM rows WHERE name = ${name} FOR UPDATE`
  await tx`UPDATE rows SET value = ${(row?.value ?? 0) + 1} WHERE name = ${name}`
  return { result: name, changes: [{ kind: 'token' as const, key: name }] }
}
const commit = (name: string) => group.commit(name, add(name))
const names = Array.from({ length: 20 }, (_, i) => `row ${i + 1}`)
const sum = async () => (await store.sql<{ sum: number }[]>`SELECT sum(value)::int AS sum FROM rows`)[0]?.sum

test('changes that arrive during a commit share the next transaction, and the log has all in order', async () => {
  const before = await currentState(store.sql)
  const all = await Promise.all(names.map(commit))
  expect(all.map(({ result }) => result)).toEqual(names)
  expect(published.map((changes) => changes.length)).toEqual([1, 19])
  const since = await changesSince(store.sql, before)
  expect(since.covered && since.changes.map(({ key }) => key).sort()).toEqual([...names].sort())
  expect(published.flat().map(({ revision }) => revision)).toEqual(names.map((_, i) => before.revision + 1 + i))
  expect(all[19]?.changes).toEqual(published[1])
})

test('changes of one row never share a transaction, and so never undo one another', async () => {
  await Promise.all([...names, ...names, ...names].map(commit))
  expect(await sum()).toBe(60)
})

test('only the failing change fails', async () => {
  const broken = (tx: Transaction) => tx`SELECT 1 / 0`.then(() => ({ result: 'never', changes: [] }))
  const all = await Promise.allSettled([...names.slice(0, 5).map(commit), group.commit('broken', broken)])
  expect(all.map(({ status }) => status)).toEqual([...Array(5).fill('fulfilled'), 'rejected'])
  expect(await sum()).toBe(5)
})

test('a locked row delays only its own change', async () => {
  const release = deferred()
  const held = deferred()
  const holder = store.sql.begin(async (tx) => {
    await tx`SELECT FROM rows WHERE name = 'row 3' FOR UPDATE`
    held.resolve()
    await release.promise
  })
  await held.promise
  const waiting = commit('row 3')
  await Promise.all(names.filter((name) => name !== 'row 3').map(commit))
  expect(await sum()).toBe(19)
  release.resolve()
  await holder
  await waiting
  expect(await sum()).toBe(20)
})

test('an aborted change is not committed, and the others are', async () => {
  const watch = new WriteWatch(60_000)
  const first = commit('row 1')
  const late = writeWatch.run(watch, () =>
    group.commit('row 2', async (tx) => {
      const done = await add('row 2')(tx)
      watch.giveUp()
      return done
    }),
  )
  const other = commit('row 3')
  await expect(late).rejects.toThrow(/in time/)
  await Promise.all([first, other])
  expect(watch.outcome).toBe('none')
  expect(await sum()).toBe(2)
})

function deferred() {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
