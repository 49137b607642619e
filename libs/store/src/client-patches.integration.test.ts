import { once } from 'node:events'
import net from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore, type Sql } from './connect.js'
import { poolLoad } from './pooling.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

// One test for each of config/patches, in their order: if a release of the client passes a test without its patch, the patch is superfluous.

let store: FreshStore
const opened: Sql[] = []
beforeEach(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL, { migrated: false })
})
afterEach(async () => {
  for (const sql of opened.splice(0)) await sql.end({ timeout: 0 })
  await store.drop()
})

function client(url = store.url, statementTimeoutMs = 15_000): Sql {
  const sql = openStore(url, { applicationName: 'patched', maxConnections: 1, statementTimeoutMs })
  opened.push(sql)
  return sql
}

/** Ends the sessions of the clients above, from the server's side. */
const terminate = () => store.sql`
  SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'patched' AND datname = current_database()`

const codeOf = (error: { code?: string }) => error.code

/** Starts a proxy for Postgres, which forwards the client's data as far as `pass` allows; null: no more data in either direction. */
async function throughProxy(
  pass: (sent: Buffer) => Buffer | null,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const { port, hostname } = new URL(store.url)
  const sockets = new Set<net.Socket>()
  let isSilent = false
  // Half-open: a client that only asks to end keeps its socket.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    const upstream = net.connect(Number(port || 5432), hostname)
    for (const one of [socket, upstream]) sockets.add(one.on('error', () => {}))
    socket.on('data', (bytes) => {
      const passed = pass(bytes)
      if (passed === null) isSilent = true
      else upstream.write(passed)
    })
    upstream.on('data', (bytes) => {
      if (!isSilent) socket.write(bytes)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(store.url)
  url.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  try {
    await work(url.href)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

const silentAfterLogin = (work: (url: string) => Promise<void>) =>
  throughProxy((sent) => (sent.includes('never answered') ? null : sent), work)

test('001: a query on a connection that the server has closed rejects, and the process continues', async () => {
  const sql = client()
  const reserved = await sql.reserve()
  await reserved`SELECT 1`
  await terminate()
  // Once an earlier query has failed, the client has noticed the end of the socket.
  await reserved`SELECT 1`.catch(() => {})
  expect(await reserved`SELECT 1`.catch(codeOf)).toBe('CONNECTION_CLOSED')
})

test('002: a transaction that lost its connection runs no further query, on no connection', async () => {
  const sql = client()
  await sql`CREATE TABLE written (n int)`
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const lost = sql.begin(async (tx) => {
    await tx`INSERT INTO written VALUES (1)`
    // The query waits for the only connection, which is opened again for it.
    const other = sql`SELECT 1`.catch(() => {})
    await terminate()
    await other
    await tx`INSERT INTO written VALUES (2)`.catch(() => {})
    finish()
  })
  await expect(lost).rejects.toThrow()
  await finished
  expect(await store.sql`SELECT n FROM written`).toEqual([])
})

test('003: a client that is ended during a query without a response closes its connection', async () => {
  await silentAfterLogin(async (url) => {
    const sql = client(url)
    await sql`SELECT 1`
    const before = openSockets()
    const asked = sql`SELECT 'never answered'`.catch(codeOf)
    await sql.end({ timeout: 0 })
    expect(await asked).toBe('CONNECTION_DESTROYED')
    await expect.poll(openSockets).toBeLessThan(before)
  })
})

/** Returns sockets that keep this process alive. */
const openSockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length

test('004: a LISTEN that the server refused is retried by the next call', async () => {
  let refusals = 1
  const refuseFirst = (sent: Buffer) => {
    if (!sent.includes('listen "patches"') || refusals-- <= 0) return sent
    return Buffer.from(sent.toString('latin1').replace('listen "patches"', 'listex "patches"'), 'latin1')
  }
  await throughProxy(refuseFirst, async (url) => {
    const sql = client(url)
    await expect(sql.listen('patches', () => {})).rejects.toThrow('syntax error')
    expect(await sql.listen('patches', () => {})).toHaveProperty('unlisten')
  })
})

test('005: a connection starts with the SQL of its session', async () => {
  expect(await client(store.url, 4321)`SHOW statement_timeout`).toEqual([{ statement_timeout: '4321ms' }])
})

test('006: a query without a response rejects, and its connection is closed', async () => {
  await silentAfterLogin(async (url) => {
    const sql = client(url, 100)
    await sql`SELECT 1`
    expect(await sql`SELECT 'never answered'`.catch(codeOf)).toBe('ANSWER_TIMEOUT')
  })
})

test('007: a client reports the number of its busy connections', async () => {
  const sql = client()
  await sql`SELECT 1`
  expect(poolLoad(sql)).toEqual({ busy: 0, idle: 1, max: 1 })
  await sql.begin(async (tx) => {
    await tx`SELECT 1`
    expect(poolLoad(sql)).toEqual({ busy: 1, idle: 0, max: 1 })
  })
})
