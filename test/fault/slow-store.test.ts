import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken } from '@gateway/core/access/token-format.js'
import { openStore } from '@gateway/store/connect.js'
import { afterEach, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { OwnPostgres } from '../harness/own-postgres.js'
import { TcpProxy } from '../harness/tcp-proxy.js'
import { useGateway } from '../harness/use-gateway.js'

let postgres: OwnPostgres
let known = ''
let workers: readonly number[] = []

const gateway = useGateway(
  {
    edgeWorkers: 2,
    postgres: 'proxy',
    database: async () => {
      postgres = await OwnPostgres.start()
      return postgres.database
    },
  },
  async (made: Gateway) => {
    await makeTileFolder(join(made.home, 'basemaps/world/v1'), { maxZoom: 1 })
    await made.admin.scanSource('maps', 'basemap', join(made.home, 'basemaps'))
    known = (await made.issueToken({ basemap_codes: ['world'] })).token
    // Each connection may reach another worker: afterwards both know the token.
    for (let i = 0; i < 40; i++) await read(known)
    workers = made.edges[0]?.process.workers() ?? []
  },
)

const proxies = () => [gateway().controlPlane, ...gateway().edges].map(({ postgresProxy }) => postgresProxy as TcpProxy)

const read = async (token: string) => {
  const headers = { 'x-access-token': token, connection: 'close' }
  const answer = await fetch(`${gateway().url}/tiles/world/1/0/0.png`, { headers })
  await answer.arrayBuffer()
  return answer.status
}

/** Repeatedly requests a tile with a known token until stopped; returns the counts by status. */
function load(): () => Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  let on = true
  const asking = (async () => {
    while (on) {
      const status = await read(known)
      statuses[status] = (statuses[status] ?? 0) + 1
      await sleep(5)
    }
  })()
  return async () => {
    on = false
    await asking
    return statuses
  }
}

/** Listens through a separate proxy, as the bus does; `heard` resolves once a notification of that moment arrives. */
async function listening() {
  const proxy = await TcpProxy.start(postgres.address)
  const url = new URL(postgres.database.url)
  url.port = String(proxy.port)
  const sql = openStore(url.href, { applicationName: 'listener', maxConnections: 1 })
  const news = new EventEmitter()
  await sql.listen('news', (payload) => news.emit(payload))
  const heard = async () => {
    const sent = randomUUID()
    const arrived = once(news, sent)
    let over = false
    const sending = (async () => {
      while (!over) {
        await sql.notify('news', sent)
        await sleep(50)
      }
    })()
    await arrived
    over = true
    await sending
    await sql.end({ timeout: 1 })
    await proxy.close()
  }
  return { proxy, heard }
}

const issue = (name: string) => gateway().admin.call<{ error: string }>('/tokens', { body: { name } })
const issued = async () => (await gateway().admin.expect<{ items: { name: string }[] }>('/tokens')).items

async function recovered(): Promise<void> {
  while ((await issue('probe')).status !== 200) await sleep(50)
  const unknown = createToken()
  while ((await read(unknown)) !== 401) await sleep(50)
  await gateway().ready()
}

afterEach(() => {
  expect(gateway().edges[0]?.process.workers(), 'the workers are those that were started').toEqual(workers)
})

test('a store that cuts connections, then accepts them silently: known tokens still work, and no write is carried out', async () => {
  const stop = load()
  for (const proxy of proxies()) await proxy.cut()
  for (const proxy of proxies()) await proxy.freeze()
  const writes = Array.from({ length: 11 }, (_, i) => issue(`frozen ${i}`))
  expect((await fetch(`${gateway().url}/api/v1/catalog/basemaps?token=${known}`)).status).toBe(200)
  const listed = await gateway().admin.call('/basemaps')
  expect([listed.status, listed.body]).toEqual([503, { error: expect.stringContaining('does not answer') }])
  const strangers = await Promise.all(Array.from({ length: 50 }, () => read(createToken())))
  expect(new Set(strangers)).toEqual(new Set([503]))
  for (const { status, headers, body } of await Promise.all(writes)) {
    expect([status, body.error]).toEqual([503, expect.stringContaining('nothing was changed')])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  // All data sent to the store meanwhile arrives now.
  for (const proxy of proxies()) await proxy.restore()
  await recovered()
  expect((await issued()).filter(({ name }) => name.startsWith('frozen'))).toEqual([])
  expect(Object.keys(await stop())).toEqual(['200'])
})

test('a thousand responses with 503 write few lines', () => {
  const lines = [gateway().controlPlane, ...gateway().edges].flatMap(({ process }) => process.lines)
  // Without time and pid, which may contain these digits.
  const told = lines.filter(({ json }) => /503|out of reach/.test(JSON.stringify({ ...json, time: null, pid: null })))
  expect(told.length).toBeGreaterThan(0)
  expect(told.length).toBeLessThan(20)
})

test('a slow store is waited for', async () => {
  for (const proxy of proxies()) proxy.slow(50)
  expect(await read(known)).toBe(200)
  expect(await read(createToken())).toBe(401)
  expect((await issue('slow')).status).toBe(200)
  for (const proxy of proxies()) proxy.slow(0)
})

/** Timeout for copying a server and starting it: five seconds, and much longer on a busy machine. */
const FAIL_OVER = { timeout: 120_000 }

test(
  'a fail-over to a replica: tiles and reading go on, writes return 503, and all is well once it is promoted',
  FAIL_OVER,
  async () => {
    const stop = load()
    const listener = await listening()
    await postgres.failOver()
    for (const proxy of [...proxies(), listener.proxy]) proxy.retarget(postgres.address)
    while ((await gateway().admin.call('/tokens')).status !== 200) await sleep(50)
    const refused = await issue('to a replica')
    expect([refused.status, refused.body]).toEqual([
      503,
      { error: expect.stringMatching(/can only be read.*nothing was/) },
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const ready = await fetch(`${gateway().controlPlane.url}/ready`)
    expect([ready.status, await ready.json()]).toEqual([503, { error: expect.stringContaining('replica') }])
    while ((await read(createToken())) !== 401) await sleep(50)
    await postgres.promote()
    await recovered()
    const again = await gateway().admin.expect<{ confirmed: unknown[] }>(
      `/tokens/${(await gateway().issueToken({})).id}/disable`,
      { method: 'POST' },
    )
    expect(again.confirmed.length).toBeGreaterThan(0)
    await listener.heard()
    expect(Object.keys(await stop())).toEqual(['200'])
  },
)
