import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { Sql } from '@gateway/store/connect.js'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { memoryReader } from '../testing/memory-reader.js'
import { CatalogReplica } from './catalog-replica.js'
import { type FollowLoopOptions, ReplicationLoop } from './replication-loop.js'
import type { StoreLink } from './store-link.js'

const STATE = { revision: 1, mark: 'mark 1', epoch: 'epoch' }
const READ = { state: () => STATE, changes: () => ({ covered: true as const, changes: [], state: STATE }) }
const NO_LOG = new Proxy({}, { get: () => () => {} }) as FollowLoopOptions['log']
const KEYS = ['instance_id', 'edge_link'].map((name) => ({ name, value: 'installation' }))
const PRESENCE = 'gateway:installation:edge:id'

async function startRedis(port: number): Promise<ChildProcess> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) break
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill()
  await exited
}

test('the store keeps the presence of a process until the bus has it again, however often the process confirms before', async () => {
  const port = await freePort()
  let redis = await startRedis(port)
  const reader = new Redis({ port, retryStrategy: () => 20 }).on('error', () => {})
  /** For each deletion from the store: whether the bus had the presence by then. */
  const deletions: boolean[] = []
  let stored = 0
  const statement = async ([text = '']: readonly string[]) => {
    if (text.includes('SELECT')) return KEYS
    if (text.includes('INSERT')) stored++
    if (text.includes('DELETE')) deletions.push((await reader.exists(PRESENCE)) === 1)
    return []
  }
  const sql = Object.assign(statement, { json: (value: unknown) => value }) as unknown as Sql
  const loop = new ReplicationLoop({
    store: { query: (run: (sql: Sql) => Promise<unknown>) => run(sql) } as StoreLink,
    follower: new CatalogReplica(
      memoryReader({ ...READ, basemaps: () => [] }),
      { invalidate: () => {}, invalidateAll: () => {} },
      () => performance.now(),
      () => {},
    ),
    redisUrl: `redis://127.0.0.1:${port}`,
    staleMs: 5_000,
    trustMs: 300_000,
    presence: { id: 'id', host: 'host', pid: 1, version: '1', started_at: '' },
    traffic: () => ({}) as ReturnType<FollowLoopOptions['traffic']>,
    kept: async () => null,
    onLoaded: () => {},
    onNothingToLoad: () => {},
    onFollowed: () => {},
    log: NO_LOG,
  })
  onTestFinished(async () => {
    await loop.stop()
    reader.disconnect()
    await stop(redis)
  })
  loop.start()
  while ((await reader.exists(PRESENCE)) === 0) await sleep(20)
  await stop(redis)
  // The first announcement that fails.
  const before = stored
  while (stored === before) await sleep(20)
  // The first announcement after the start may also have reached the bus too early.
  deletions.length = 0
  redis = await startRedis(port)
  while (deletions.length === 0) {
    await loop.confirm()
    await sleep(5)
  }
  expect(deletions).toEqual([true])
})
