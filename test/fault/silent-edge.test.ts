import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DisabledToken, EdgePresence } from '@gateway/contracts/edge.js'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway({ edges: 2, redis: 'proxy', postgres: 'proxy', edgeWorkers: 2 }, async ({ home, admin }) => {
  await makeTileFolder(join(home, 'basemaps/world/v1'), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'basemaps'))
})

/** Uses a new connection, which may reach another process than the previous one. */
const read = async (url: string, token: string) => {
  const answer = await fetch(`${url}/tiles/world/0/0/0.png?token=${token}`, { headers: { connection: 'close' } })
  await answer.arrayBuffer()
  return answer.status
}

const present = async () => (await gateway().admin.expect<{ items: readonly EdgePresence[] }>('/edges')).items

async function disableNew(): Promise<DisabledToken> {
  const { id } = await gateway().issueToken({ basemap_codes: ['world'] })
  return gateway().admin.expect<DisabledToken>(`/tokens/${id}/disable`, { method: 'POST' })
}

const pids = (edges: readonly EdgePresence[]) => edges.map(({ pid }) => pid).sort()

test('the control plane waits for an edge that reaches the store but not the bus, and the edge confirms through the store', async () => {
  gateway().allowErrors(/redis|bus|ECONN|Connection is closed/i)
  const severed = gateway().edges[1]
  await severed?.redisProxy?.cut()
  const { confirmed, pending } = await disableNew()
  expect(pids(pending)).toEqual([])
  expect(confirmed.map(({ path }) => path).sort()).toEqual(['bus', 'bus', 'store', 'store'])
  await severed?.redisProxy?.restore()
})

test('an isolated edge is named as pending after its presence expired, and still accepts the token', async () => {
  gateway().allowErrors(/redis|bus|ECONN|Connection is closed|store|connect|CONNECTION/i)
  const severed = gateway().edges[1]
  if (severed?.redisProxy == null || severed.postgresProxy == null) throw new Error('an edge behind proxies')
  const { id, token } = await gateway().issueToken({ basemap_codes: ['world'] })
  // Either of its processes may serve the request.
  for (let i = 0; i < 20; i++) expect(await read(severed.url, token)).toBe(200)
  await Promise.all([severed.redisProxy.cut(), severed.postgresProxy.cut()])
  while ((await present()).length > 2) await sleep(100)
  const { confirmed, pending } = await gateway().admin.expect<DisabledToken>(`/tokens/${id}/disable`, {
    method: 'POST',
  })
  expect(pids(pending)).toEqual([...severed.process.workers()].sort())
  expect(confirmed).toHaveLength(2)
  expect(await read(severed.url, token)).toBe(200)
  await Promise.all([severed.redisProxy.restore(), severed.postgresProxy.restore()])
  while ((await present()).length < 4) await sleep(100)
  await gateway().caughtUp()
  // The supervisor may have read the changes first, and the worker's own connections to the store return a moment later.
  let after = await read(severed.url, token)
  while (after === 503) after = await read(severed.url, token)
  expect(after).toBe(401)
  expect((await disableNew()).pending).toEqual([])
})

test('a killed process is withdrawn by its edge, and none is pending', async () => {
  gateway().allowErrors(/a worker ended and is replaced/)
  const [edge] = gateway().edges
  const killed = edge?.process.workers()[0] as number
  process.kill(killed, 'SIGKILL')
  // Its connections end with its last thread, which its supervisor waits for; the next request uses another connection.
  await edge?.process.line(({ json }) => json?.worker === killed)
  while ((await present()).some(({ pid }) => pid === killed)) await sleep(50)
  await gateway().ready()
  for (;;) {
    const { confirmed, pending } = await disableNew()
    // On a busy machine its presence may expire before it is withdrawn; it would then be named for TOKEN_OFFLINE_SECONDS.
    if (!pids(pending).includes(killed) && confirmed.length === 4) break
  }
})

test('processes killed during the stop of their edge are withdrawn by it, and no later disable is pending', async () => {
  gateway().allowErrors(/the event loop of a worker is blocked|did not end in time|a worker ended/)
  const edge = gateway().edges[1]
  if (edge === undefined) throw new Error('a second edge')
  while ((await present()).length < 4) await sleep(100)
  const gone = edge.process.workers()
  for (const pid of gone) process.kill(pid, 'SIGSTOP')
  edge.process.signal('SIGTERM')
  await edge.process.ended()
  const { confirmed, pending } = await disableNew()
  expect(pids(pending)).toEqual([])
  expect(confirmed).toHaveLength(2)
  edge.process.start()
  await gateway().ready()
})

test('an edge that stops while tokens are disabled leaves no later disable pending', async () => {
  const edge = gateway().edges[1]
  if (edge === undefined) throw new Error('a second edge')
  while ((await present()).length < 4) await sleep(100)
  const stopped = edge.process.workers()
  let stopping = true
  const disabling = Array.from({ length: 4 }, async () => {
    while (stopping) await disableNew()
  })
  edge.process.signal('SIGTERM')
  await edge.process.ended()
  stopping = false
  await Promise.all(disabling)
  for (let i = 0; i < 20; i++) expect(pids((await disableNew()).pending)).toEqual([])
  expect((await present()).map(({ pid }) => pid).filter((pid) => stopped.includes(pid))).toEqual([])
  edge.process.start()
  await gateway().ready()
})
