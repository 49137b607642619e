import { openStore, type Sql, type Transaction } from '@gateway/store/connect.js'
import { WriteWatch, writeWatch } from '@gateway/store/write-fence.js'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { freshDatabase, withConnection } from '../harness/database.js'
import { TcpProxy } from '../harness/tcp-proxy.js'
import { useResource } from '../harness/use-resource.js'

const WITHIN_MS = 400

const database = useResource(freshDatabase, (made) => made.drop())
const proxy = useResource(
  () => {
    const { hostname, port } = new URL(database().url)
    return TcpProxy.start({ host: hostname, port: Number(port) })
  },
  (made) => made.close(),
)
let sql: Sql

beforeAll(async () => {
  await direct((own) => own`CREATE TABLE written (name text PRIMARY KEY)`)
})
beforeEach(() => {
  const url = new URL(database().url)
  url.port = String(proxy().port)
  sql = openStore(url.href, { applicationName: 'fence', maxConnections: 4 })
  return async () => {
    await proxy().restore()
    await sql.end({ timeout: 1 })
  }
})

const direct = <T>(work: (own: Sql) => Promise<T>) => withConnection(database().url, work)
const insert = (tx: Transaction, name: string) => tx`INSERT INTO written VALUES (${name})`
const names = () =>
  direct(async (own) => (await own<{ name: string }[]>`SELECT name FROM written`).map((row) => row.name))
const watched = <T>(watch: WriteWatch, work: (tx: Transaction) => Promise<T>) =>
  writeWatch.run(watch, () => sql.begin(work) as Promise<T>)

/** Waits until the server has no running statement from the proxy. */
async function settled(): Promise<void> {
  for (;;) {
    const [row] = await direct(
      (own) => own<{ busy: number }[]>`
        SELECT count(*) AS busy FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'fence' AND state <> 'idle'`,
    )
    if (row?.busy === 0) return
  }
}

test('a timely write is carried out', async () => {
  const watch = new WriteWatch(10_000)
  await watched(watch, (tx) => insert(tx, 'in time'))
  expect(watch.outcome).toBe('committed')
  expect(await names()).toContain('in time')
})

test('a write whose statement got no timely response is never carried out, whatever arrives later', async () => {
  const watch = new WriteWatch(WITHIN_MS)
  await sql`SELECT 1`
  const late = watched(watch, async (tx) => {
    await proxy().freeze()
    return insert(tx, 'late')
  })
  await expect(late).rejects.toThrow(/in time/)
  expect(watch.outcome).toBe('none')
  await proxy().restore()
  await settled()
  expect(await names()).not.toContain('late')
})

test('a commit without a response has an unknown outcome', async () => {
  const watch = new WriteWatch(WITHIN_MS)
  const unanswered = watched(watch, async (tx) => {
    await insert(tx, 'perhaps')
    await proxy().freeze()
  })
  await expect(unanswered).rejects.toThrow(/in time/)
  expect(watch.outcome).toBe('unknown')
})

test('a commit on a cut connection has an unknown outcome, a statement on a cut connection does not', async () => {
  const atCommit = new WriteWatch(10_000)
  const committing = watched(atCommit, async (tx) => {
    await insert(tx, 'cut at commit')
    await proxy().cut()
  })
  await expect(committing).rejects.toThrow()
  expect(atCommit.outcome).toBe('unknown')
  await proxy().restore()
  const before = new WriteWatch(10_000)
  const working = watched(before, async (tx) => {
    await proxy().cut()
    return insert(tx, 'cut before')
  })
  await expect(working).rejects.toThrow()
  expect(before.outcome).toBe('none')
  await proxy().restore()
  expect(await names()).not.toContain('cut before')
})

test('a commit that the server refuses was not carried out', async () => {
  const watch = new WriteWatch(10_000)
  const refused = watched(watch, async (tx) => {
    await tx`CREATE TEMP TABLE checked (x int UNIQUE DEFERRABLE INITIALLY DEFERRED) ON COMMIT DROP`
    await tx`INSERT INTO checked VALUES (1), (1)`
  })
  await expect(refused).rejects.toThrow(/unique/)
  expect(watch.outcome).toBe('none')
})

test('a transaction whose result was already returned commits nothing more', async () => {
  const watch = new WriteWatch(10_000)
  let goOn = () => {}
  let noteBegun = () => {}
  const begun = new Promise<void>((resolve) => {
    noteBegun = resolve
  })
  const waiting = watched(watch, async (tx) => {
    await insert(tx, 'given up')
    noteBegun()
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
  })
  await begun
  watch.giveUp()
  goOn()
  await expect(waiting).rejects.toThrow(/in time/)
  await expect(watched(watch, (tx) => insert(tx, 'after'))).rejects.toThrow(/in time/)
  await settled()
  const written = await names()
  expect(written).not.toContain('given up')
  expect(written).not.toContain('after')
})

test('a transaction that lost its connection does nothing on the next one', async () => {
  let rest: Promise<unknown> = Promise.resolve()
  const work = sql.begin(async (tx) => {
    await insert(tx, 'lost')
    rest = (async () => {
      await proxy().cut()
      await proxy().restore()
      // All connections of the pool, including that of the transaction, are in use elsewhere by now.
      await Promise.all(Array.from({ length: 4 }, () => sql`SELECT pg_sleep(0.1)`))
      await insert(tx, 'elsewhere')
    })()
    await rest
  })
  await expect(work).rejects.toThrow()
  await expect(rest).rejects.toThrow()
  expect(await names()).not.toContain('elsewhere')
})
