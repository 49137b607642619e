import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { createToken } from '@gateway/core/access/token-format.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Admin } from '../harness/admin.js'
import { environment } from '../harness/environment.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { ADMIN_TOKEN, type Edge } from '../harness/gateway.js'
import { freePort } from '../harness/ports.js'
import { ServiceProcess } from '../harness/service-process.js'
import { useGateway } from '../harness/use-gateway.js'

const WORKERS = 2

const gateway = useGateway({ edgeWorkers: WORKERS, redis: true, postgres: 'proxy' }, async ({ home, admin }) => {
  await makeTileFolder(join(home, 'basemaps/world/v1'), { maxZoom: 1 })
  await admin.scanSource('maps', 'basemap', join(home, 'basemaps'))
})

const edge = () => gateway().edges[0] as Edge
const folder = () => join(gateway().dataDir, 'cache/catalog')
const stamp = () => readFileSync(join(folder(), 'stamp'), 'utf8')

/** Returns the status, or 0 if nothing listens. */
const read = async (token: string, url = gateway().url) => {
  try {
    const headers = { 'x-access-token': token, connection: 'close' }
    const answer = await fetch(`${url}/tiles/world/1/0/0.png`, { headers })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await sleep(20)
}

const facts = () => JSON.parse(stamp().split('\n')[1] ?? '')

/**
 * Resolves when the supervisor has compared the kept catalog with the store after it had heard of the newest change from every process. Until
 * then it removes the tokens that they name from the catalog, and reads them again later.
 */
async function kept(): Promise<void> {
  await gateway().caughtUp()
  // The supervisor answers this after the earlier messages of its processes.
  await fetch(`${gateway().url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  const heardAt = Number(process.hrtime.bigint()) / 1e6
  await until(() => existsSync(join(folder(), 'stamp')) && facts().hostMs > heardAt)
}

/** Asks the control plane directly: the edge proxies nothing before it has reached the store. */
const control = () => new Admin(gateway().controlPlane.url, ADMIN_TOKEN)
const disable = ({ id }: IssuedToken) => control().call<DisabledToken>(`/tokens/${id}/disable`, { method: 'POST' })

let issued: IssuedToken
let other: IssuedToken
beforeEach(async () => {
  other = await control().issueToken({ basemap_codes: ['world'] })
  issued = await control().issueToken({ basemap_codes: ['world'] })
  await kept()
  gateway().allowErrors(/ECONN|connect|store|time|CONNECTION/i)
  await edge().postgresProxy?.cut()
})

afterEach(async () => {
  await edge().postgresProxy?.restore()
  await gateway().ready()
})

test('an edge that starts without the store serves from its kept catalog, and obeys the bus', async () => {
  const later = await control().issueToken({ basemap_codes: ['world'] })
  edge().process.signal('SIGTERM')
  await edge().process.ended()
  edge().process.start()
  const listens = () => edge().process.lines.filter(({ raw }) => raw.includes('the edge listens')).length
  const before = listens()
  const statuses = new Set<number>()
  await until(async () => {
    statuses.add(await read(issued.token))
    return listens() > before
  })
  // Each connection may reach another worker.
  for (let i = 0; i < 60; i++) statuses.add(await read(issued.token))
  expect([...statuses].sort()).toEqual([0, 200])
  expect(await read(createToken())).toBe(503)
  // Issued while this edge could not reach the store.
  expect(await read(later.token)).toBe(503)
  const lines = edge().process.lines.filter(({ raw }) => raw.includes('starts from the catalog kept on disk'))
  // Processes that start at about the same time share one reading.
  expect(lines.length).toBeGreaterThan(0)
  // The edge lacks the changes before this one and does not confirm it, but refuses the token.
  expect((await disable(issued)).body.pending).toHaveLength(WORKERS)
  expect(await read(issued.token)).toBe(503)
})

test('an edge that starts while the store accepts connections silently serves from its kept catalog, too', async () => {
  await edge().postgresProxy?.freeze()
  edge().process.signal('SIGTERM')
  await edge().process.ended()
  edge().process.start()
  await until(async () => (await read(issued.token)) === 200)
  expect(await read(createToken())).toBe(503)
})

test('a token disabled over the bus stays disabled after a start without the store', async () => {
  await edge().postgresProxy?.freeze()
  // By then every process waits for the store, and earlier responses are written to the kept copy.
  await sleep(1_500)
  const before = stamp()
  expect((await disable(issued)).body).toMatchObject({ confirmed: Array(WORKERS).fill({}), pending: [] })
  await until(() => stamp() !== before)
  await edge().postgresProxy?.cut()
  edge().process.signal('SIGTERM')
  await edge().process.ended()
  edge().process.start()
  await until(async () => (await read(issued.token)) !== 0)
  expect(await read(issued.token)).toBe(503)
  expect(await read(other.token)).toBe(200)
})

test('the kept catalog is private, and is not used if it is too old, damaged, or of another store', async () => {
  // Rows of ended processes stay for an hour, because another edge with the same folder may still use them.
  await until(() => readdirSync(folder()).includes('stamp'))
  const { file } = facts()
  expect(readdirSync(folder())).toContain(`${file}.rows`)
  const names = readdirSync(folder())
  for (const name of names) expect(statSync(join(folder(), name)).mode & 0o777).toBe(0o600)
  const whole = stamp()
  const database = new URL(gateway().database.url)
  database.port = String(edge().postgresProxy?.port)
  const refusalOf = async (changes: Record<string, string>) => {
    const settings = {
      CONFIG_FILE: join(gateway().home, 'service.env'),
      DATA_DIR: gateway().dataDir,
      DATABASE_URL: database.href,
      CONTROL_PORT: String(await freePort()),
      API_PORT: String(await freePort()),
      EDGE_WORKERS: '1',
      ...changes,
    }
    const main = fileURLToPath(new URL('../../services/edge/dist/main.js', import.meta.url))
    const started = new ServiceProcess('another edge', [process.execPath, main], environment('', settings))
    const { json } = await started.line(({ raw }) => raw.includes('catalog kept on disk'))
    await started.kill()
    return json
  }
  const refusals = await Promise.all([
    refusalOf({ TOKEN_OFFLINE_SECONDS: '0.001', TOKEN_STALE_SECONDS: '0.001' }),
    refusalOf({ DATABASE_URL: database.href.replace(/\/[^/]*$/, '/another') }),
  ])
  expect(refusals).toMatchObject([
    { err: expect.stringMatching(/s old, more than TOKEN_OFFLINE_SECONDS/), msg: expect.stringMatching(/is not used/) },
    { err: expect.stringMatching(/damaged, or was kept for another/) },
  ])
  writeFileSync(join(folder(), 'stamp'), whole.replace('"revision":', '"revision":1'))
  expect(await refusalOf({})).toMatchObject({ err: expect.stringMatching(/damaged/) })
  writeFileSync(join(folder(), 'stamp'), whole)
})
