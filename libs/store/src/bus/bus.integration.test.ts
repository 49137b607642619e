import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import type { LogState } from '@gateway/contracts/change.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { type FreshStore, freshStore } from '@gateway/store/testing/fresh-store.js'
import { Redis as RedisClient } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Bus, OwnPresence, RevisionMessage } from './bus.js'
import { encodeMessage } from './message.js'
import { type BusOptions, openBus } from './open.js'

let store: FreshStore
let redis: Redis
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
  redis = await startRedis()
})
afterAll(async () => {
  await store.drop()
  await redis.stop()
})

const SILENT_SECONDS = 30
const options = (redisUrl: string | null): BusOptions => ({
  redisUrl,
  silentSeconds: SILENT_SECONDS,
  onTrouble: () => {},
})
const MARK = randomUUID()
const state = (revision: number): LogState => ({ revision, mark: MARK })

const presence = (revision: number, id: string = randomUUID()): OwnPresence => ({
  id,
  host: 'h',
  pid: 1,
  version: '0',
  started_at: new Date().toISOString(),
  applied_revision: revision,
  applied_mark: MARK,
})

async function insertedToken(): Promise<string> {
  const [row] = await store.sql<{ id: string }[]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
    VALUES ('limited', 'bmp_12345678', ${randomBytes(32)}, '{}', '{}', '{read}') RETURNING id`
  return row?.id as string
}

describe.each(['postgres', 'redis'] as const)('over %s', (medium) => {
  let bus: Bus
  beforeAll(async () => {
    bus = await openBus(store.sql, options(medium === 'redis' ? redis.url : null))
    await available(bus)
  })
  afterAll(() => bus.close())

  test('permits come from one bucket that all processes share, and that refills by the limit', async () => {
    const tokenId = await insertedToken()
    const other = await openBus(store.sql, options(medium === 'redis' ? redis.url : null))
    try {
      await available(other)
      const request = { tokenId, perSecond: 0.5, burst: 5, wanted: 2 }
      const take = async (from: Bus, wanted: number) => (await from.takePermits([{ ...request, wanted }]))[0]
      expect(await take(bus, 2)).toMatchObject({ granted: 2, retryAfterMs: 0 })
      expect(await take(other, 2)).toMatchObject({ granted: 2, retryAfterMs: 0 })
      const last = await take(bus, 2)
      expect(last?.granted).toBe(1)
      expect(last?.retryAfterMs).toBeGreaterThan(0)
      expect(last?.retryAfterMs).toBeLessThanOrEqual(2_000)
      expect((await take(other, 2))?.granted).toBe(0)
      // A new limit applies to the existing permits, and time refills them.
      const fast = { ...request, perSecond: 1_000 }
      await expect.poll(async () => (await other.takePermits([fast]))[0]?.granted).toBe(2)
    } finally {
      await other.close()
    }
  })

  test('several tokens are asked for at once, in the order of the requests', async () => {
    const ids = [await insertedToken(), await insertedToken(), await insertedToken()]
    const requests = ids.map((tokenId, i) => ({ tokenId, perSecond: 0.001, burst: i + 1, wanted: 10 }))
    const [forth, back] = await Promise.all([bus.takePermits(requests), bus.takePermits([...requests].reverse())])
    const all = forth.map(({ granted }, i) => granted + (back[2 - i]?.granted ?? 0))
    expect(all).toEqual([1, 2, 3])
  })

  test('a published message reaches a subscriber, with its changes', async () => {
    const received = deferred<RevisionMessage>()
    let subscribed = 0
    await bus.subscribe(received.resolve, () => subscribed++)
    await until(() => subscribed === 1)
    const message: RevisionMessage = { revision: 3, changes: [{ revision: 3, kind: 'token', key: 'ab' }] }
    await bus.publish(message)
    expect(await received.promise).toEqual(message)
  })

  test('a lost connection is subscribed again, and the subscriber is told so that it reads the log', async () => {
    let times = 0
    const again = deferred<void>()
    await bus.subscribe(
      () => {},
      () => {
        if (++times === 2) again.resolve()
      },
    )
    await until(() => times === 1)
    await cutSubscriptions(medium)
    await again.promise
    await available(bus)
  })

  test('presence lasts while it is renewed and ends when it is withdrawn', async () => {
    const edge = presence(1)
    await bus.announce(edge)
    expect((await bus.presence()).live).toContainEqual({ ...edge, seen_at: expect.any(String) })
    await bus.withdraw(edge.id)
    expect((await bus.presence()).live.map((e) => e.id)).not.toContain(edge.id)
  })

  test('a wait for a revision ends when the last edge has applied it', async () => {
    const [a, b] = [presence(10), presence(9)]
    await bus.announce(a)
    await bus.announce(b)
    const waiting = bus.awaitApplied(state(10), 20_000)
    await bus.announce({ ...b, applied_revision: 10 })
    const { confirmed, pending } = await waiting
    expect(confirmed.map((e) => e.id).sort()).toEqual([a.id, b.id].sort())
    expect(pending).toEqual([])
    await bus.withdraw(a.id)
    await bus.withdraw(b.id)
  })

  test('an edge that never applies a change is named as pending, and one that leaves is not waited for', async () => {
    const [stays, goes] = [presence(1), presence(1)]
    await bus.announce(stays)
    await bus.announce(goes)
    const waiting = bus.awaitApplied(state(2), 1500)
    await bus.withdraw(goes.id)
    const { confirmed, pending } = await waiting
    expect(confirmed).toEqual([])
    expect(pending.map((e) => e.id)).toEqual([stays.id])
    await bus.withdraw(stays.id)
  })
})

test('edges that a restarted Redis has forgotten are waited for until they had the time to register again', async () => {
  const bus = await openBus(store.sql, options(redis.url))
  await available(bus)
  const client = new RedisClient(redis.url)
  await client.flushdb()
  await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  client.disconnect()
  await available(bus)
  const waiting = bus.awaitApplied(state(5), 20_000)
  // The owner of the forgotten presence announces it again during the wait.
  const edge = presence(5)
  await bus.announce(edge)
  expect((await waiting).confirmed.map((e) => e.id)).toEqual([edge.id])
  await bus.withdraw(edge.id)
  await bus.close()
})

test('edges hear each state that a control plane attests, and nothing that another program wrote in its place', async () => {
  const [edge, control] = [await openBus(store.sql, options(redis.url)), await openBus(store.sql, options(redis.url))]
  onTestFinished(async () => void (await Promise.all([edge.close(), control.close()])))
  const heard: LogState[] = []
  let subscribed = false
  const onSubscribed = () => {
    subscribed = true
  }
  await edge.subscribe(
    () => {},
    onSubscribed,
    (one) => heard.push(one),
  )
  await until(() => subscribed)
  await available(control)
  const client = new RedisClient(redis.url)
  const [channel = ''] = (await client.pubsub('CHANNELS', 'gateway:*:state')) as string[]
  for (const text of ['{', 'null', '{"revision":"many"}']) await client.publish(channel, text)
  client.disconnect()
  await control.attest(state(6))
  await control.attest(state(7))
  await until(() => heard.length > 1)
  expect(heard).toEqual([state(6), state(7)])
})

test('the loss of Redis is reported once, and so is its return', async () => {
  const first = await startRedis()
  const told: string[] = []
  const bus = await openBus(store.sql, {
    ...options(first.url),
    onTrouble: () => void told.push('lost'),
    onRecovered: () => void told.push('back'),
  })
  onTestFinished(() => bus.close())
  await available(bus)
  await first.stop()
  await until(() => told.length > 0)
  const second = await startRedis('--port', new URL(first.url).port)
  onTestFinished(() => second.stop())
  await until(() => told.length > 1)
  expect(told).toEqual(['lost', 'back'])
})

test('foreign entries of Redis in the place of an edge are ignored, and hide no edge', async () => {
  const bus = await openBus(store.sql, options(redis.url))
  await available(bus)
  const edge = presence(5)
  await bus.announce(edge)
  const client = new RedisClient(redis.url)
  const [own = ''] = await client.keys(`gateway:*:edge:${edge.id}`)
  for (const [id, text] of [
    ['cut', '{'],
    ['null', 'null'],
    ['other', '{"id":"other","applied_revision":"many"}'],
  ] as const) {
    await client.set(own.replace(edge.id, id), text)
    await client.sadd(own.replace(`edge:${edge.id}`, 'edges'), id)
  }
  client.disconnect()
  expect((await bus.presence()).live.map(({ id }) => id)).toEqual([edge.id])
  expect((await bus.awaitApplied(state(5), 5_000)).confirmed.map(({ id }) => id)).toEqual([edge.id])
  await bus.withdraw(edge.id)
  await bus.close()
})

test('a Redis Cluster that is not configured as one is refused with a reason', async () => {
  const cluster = await startClusterNode()
  const said = deferred<string>()
  const bus = await openBus(store.sql, { ...options(cluster.url), onTrouble: said.resolve })
  expect(await said.promise).toContain('write redis+cluster://')
  await expect(bus.announce(presence(1))).rejects.toThrow()
  await bus.close()
  await cluster.stop()
})

test('in a Redis Cluster keys are found at their server, even after they have moved', async () => {
  const nodes = await Promise.all([startClusterNode(), startClusterNode()])
  const clients = nodes.map(({ url }) => new RedisClient(url))
  const [first, second] = clients as [RedisClient, RedisClient]
  const instanceId = randomUUID()
  const slot = await first.cluster('KEYSLOT', `{${instanceId}}`)
  const ids = (await Promise.all(clients.map((client) => client.cluster('MYID')))) as string[]
  onTestFinished(async () => {
    for (const client of clients) client.disconnect()
    for (const node of nodes) await node.stop()
  })
  // A server that loses its last slot becomes a replica.
  await first.cluster('ADDSLOTS', (Number(slot) + 1) % 16_384)
  await second.cluster('ADDSLOTS', slot, (Number(slot) + 2) % 16_384)
  // `id host:port@port-between-servers ...`
  const [, port, between] = /:(\d+)@(\d+)/.exec(String(await second.cluster('NODES'))) as unknown as string[]
  await first.call('CLUSTER', 'MEET', '127.0.0.1', port as string, between as string)
  await expect.poll(() => first.cluster('NODES')).toMatch(new RegExp(`${ids[1]} .* master `))
  await expect.poll(() => second.cluster('NODES')).toMatch(new RegExp(`${ids[0]} .* master `))

  const redisUrl = nodes[0]!.url.replace('redis:', 'redis+cluster:')
  const bus = await openBus(store.sql, { ...options(redisUrl), instanceId })
  await available(bus)
  const heard: number[] = []
  await bus.subscribe(
    ({ revision }) => heard.push(revision),
    () => {},
  )
  const edge = presence(7)
  await bus.announce(edge)
  expect(await bus.presence()).toMatchObject({ live: [{ id: edge.id }] })
  const permits = { tokenId: await insertedToken(), perSecond: 1, burst: 5, wanted: 3 }
  expect(await bus.takePermits([permits])).toMatchObject([{ granted: 3, processes: 1 }])
  // The subscribed connection has stayed at the first server.
  await expect.poll(() => bus.publish({ revision: 8, changes: [] }).then(() => heard)).toContain(8)

  const [a, b] = ids as [string, string]
  await first.cluster('SETSLOT', slot, 'IMPORTING', b)
  await second.cluster('SETSLOT', slot, 'MIGRATING', a)
  await second.flushall()
  // The other server learns of it from this one.
  await first.cluster('SETSLOT', slot, 'NODE', a)
  await expect.poll(() => bus.announce(edge).then(() => bus.presence())).toMatchObject({ live: [{ id: edge.id }] })
  expect(await first.cluster('COUNTKEYSINSLOT', slot)).toBe(3)
  await bus.close()
})

test('a message never exceeds the size of a notification', () => {
  const key = 'k'.repeat(4000)
  const changes = [1, 2, 3].map((revision) => ({ revision, kind: 'vector' as const, key }))
  expect(JSON.parse(encodeMessage({ revision: 3, changes }))).toEqual({ revision: 3, changes: [] })
})

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

interface Redis {
  readonly url: string
  readonly process: ChildProcess
  stop(): Promise<void>
}

/** Starts a cluster with one server and without slots. */
async function startClusterNode(): Promise<Redis> {
  // The default is the client's port plus 10,000, which may exceed the valid range.
  const own = [
    '--cluster-node-timeout',
    '1000',
    '--cluster-port',
    String(await freePort()),
    '--cluster-config-file',
    `${tmpdir()}/${randomUUID()}.conf`,
  ]
  const serveSome = ['--cluster-require-full-coverage', 'no']
  return startRedis('--cluster-enabled', 'yes', ...own, ...serveSome)
}

async function startRedis(...more: string[]): Promise<Redis> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more]
  const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) break
  return {
    url: `redis://127.0.0.1:${port}`,
    process: child,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Waits for a Redis client, which connects in the background. */
async function available(bus: Bus): Promise<void> {
  while (true) {
    const answered = await bus.presence().then(
      () => true,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function cutSubscriptions(medium: 'postgres' | 'redis'): Promise<void> {
  if (medium === 'postgres') {
    await store.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query ILIKE 'listen%' AND pid <> pg_backend_pid()`
    return
  }
  const client = new RedisClient(redis.url)
  await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  client.disconnect()
}
