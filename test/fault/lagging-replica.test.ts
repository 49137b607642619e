import { join } from 'node:path'
import { openStore, type Sql } from '@gateway/store/connect.js'
import type { EmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { afterAll, expect, test } from 'vitest'
import type { TestSettings } from '../harness/environment.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { OwnPostgres } from '../harness/own-postgres.js'
import { useGateway } from '../harness/use-gateway.js'

let replica: EmbeddedPostgres
let replicaSql: Sql
/** filled when the replica has an address, before any process of the gateway starts */
const env: Record<string, string> = {}

const gateway = useGateway(
  {
    redis: true,
    env: env as TestSettings,
    database: async () => {
      const postgres = await OwnPostgres.start()
      replica = await postgres.startReplica()
      env.DATABASE_READ_URL = replica.url
      replicaSql = openStore(replica.url, { applicationName: 'test', maxConnections: 1 })
      return {
        ...postgres.database,
        drop: async () => {
          await replicaSql.end()
          await replica.stop()
          await postgres.database.drop()
        },
      }
    },
  },
  async ({ home, admin }) => {
    await makeTileFolder(join(home, 'basemaps/world/v1'), { maxZoom: 0 })
    await admin.scanSource('maps', 'basemap', join(home, 'basemaps'))
  },
)

afterAll(() => {
  delete env.DATABASE_READ_URL
})

const read = async (token: string, code = 'world') => {
  const answer = await fetch(`${gateway().url}/tiles/${code}/0/0/0.png?token=${token}`)
  await answer.arrayBuffer()
  return answer.status
}

/** Issues a token and waits until the replica has it. */
async function replicated() {
  const issued = await gateway().issueToken({ basemap_codes: ['*'] })
  await expect.poll(async () => (await stored(issued.id)).length).toBe(1)
  return issued
}

const stored = (id: string) => replicaSql<{ disabled: boolean }[]>`
  SELECT disabled_at IS NOT NULL AS disabled FROM tokens WHERE id = ${id}`

async function reads(outcome: 'replica' | 'behind' | 'failed'): Promise<number> {
  const headers = { authorization: `Bearer ${gateway().adminToken}` }
  const text = await (await fetch(`${gateway().url}/metrics`, { headers })).text()
  const line = text.split('\n').find((one) => one.startsWith(`gateway_replica_reads_total{outcome="${outcome}"}`))
  return Number(line?.split(' ').at(-1) ?? Number.NaN)
}

async function replay(how: 'pause' | 'resume'): Promise<void> {
  if (how === 'resume') await replicaSql`SELECT pg_wal_replay_resume()`
  else await replicaSql`SELECT pg_wal_replay_pause()`
  const state = async () => (await replicaSql`SELECT pg_get_wal_replay_pause_state() AS state`)[0]?.state
  await expect.poll(state).toBe(how === 'pause' ? 'paused' : 'not paused')
}

test('tokens are looked up at the replica that the setting names', async () => {
  const { token } = await replicated()
  const before = await reads('replica')
  expect(await read(token)).toBe(200)
  expect(await reads('replica')).toBeGreaterThan(before)
})

test('a disabled token is refused while the replica lags behind', async () => {
  const disabled = await replicated()
  await replay('pause')
  const { confirmed, pending } = await gateway().admin.expect<{ confirmed: unknown[]; pending: unknown[] }>(
    `/tokens/${disabled.id}/disable`,
    { method: 'POST' },
  )
  expect([confirmed.length, pending.length]).toEqual([1, 0])
  expect(await stored(disabled.id)).toEqual([{ disabled: false }])
  // No process has looked the token up yet, so the replica's row would be believed.
  expect(await read(disabled.token)).toBe(401)
  expect(await reads('behind')).toBeGreaterThan(0)
  expect(gateway().logs()).toContain('the replica of the store lags behind')

  // A new token is served at once, too.
  const issued = await gateway().issueToken({ basemap_codes: ['*'] })
  expect(await read(issued.token)).toBe(200)
  await makeTileFolder(join(gateway().home, 'basemaps/later/v1'), { maxZoom: 0 })
  await gateway().admin.scanSource('maps', 'basemap', join(gateway().home, 'basemaps'))
  expect(await read(issued.token, 'later')).toBe(200)

  await replay('resume')
  const { token } = await replicated()
  const before = await reads('replica')
  expect(await read(token)).toBe(200)
  expect(await reads('replica')).toBeGreaterThan(before)
  expect(await read(disabled.token)).toBe(401)
})

test('a lost replica delays nothing', async () => {
  const { token } = await replicated()
  await replica.stop()
  expect(await read(token)).toBe(200)
  expect(await reads('failed')).toBeGreaterThan(0)
  expect(gateway().logs()).toContain('the replica of the store does not respond')
})
