import { createServer } from 'node:net'
import { coded } from '@gateway/contracts/messages.js'
import { retryDelivery } from '@gateway/store/deliveries.js'
import { claimDeliveries, renewLeases, settleDelivery } from '@gateway/store/delivery-leases.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failure, success } from '../outcome.js'
import { DeliveryStore } from '../testing/delivery-store.js'
import { startReceiver, startTcpReceiver } from '../testing/receiver.js'

const DONE = coded('delivery_answered', { status: '200 OK' })

let store: DeliveryStore
const closing: (() => Promise<void>)[] = []
beforeEach(async () => {
  store = await DeliveryStore.open(process.env.TEST_POSTGRES_URL)
})
afterEach(async () => {
  await store.close()
  for (const close of closing.splice(0)) await close()
})

test('a delivery that fails twice goes from pending over retrying to succeeded, under one webhook-id, with growing waits', async () => {
  let goOn = () => {}
  const looked = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const receiver = await startReceiver(async (response, _, n) => {
    // The delivery keeps the state after the first response, however late this test reads it.
    if (n === 2) await looked
    response.writeHead(n < 3 ? 500 : 204).end(`answer ${n}`)
  })
  closing.push(receiver.close)
  const id = await store.enqueue(receiver.url)
  expect(await store.read(id)).toMatchObject({ status: 'pending', attempts: 0, dueAt: expect.any(Date) })
  store.startRunner({ waitsSeconds: [0.3, 0.6, 0.6] })
  const waiting = await store.until(id, ({ attempts }) => attempts === 1)
  expect(waiting).toMatchObject({ status: 'retrying', message: '500 Internal Server Error', dueAt: expect.any(Date) })
  goOn()
  expect(await store.until(id)).toMatchObject({ status: 'succeeded', attempts: 3, message: '', dueAt: null })
  const [first, second, third] = receiver.received as [never, never, never] as { at: number; headers: object }[]
  expect(new Set(receiver.received.map((one) => one.headers['webhook-id']))).toEqual(new Set([`msg_${id}`]))
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(300)
  expect(third!.at - second!.at).toBeGreaterThanOrEqual(600)
  expect((await store.attempts(id)).map(({ outcome, httpStatus, answer }) => [outcome, httpStatus, answer])).toEqual([
    ['succeeded', 204, ''],
    ['failed', 500, 'answer 2'],
    ['failed', 500, 'answer 1'],
  ])
})

test('a delivery that never succeeds is tried four times and failed; a manual retry succeeds under the same id', async () => {
  let up = false
  const receiver = await startReceiver((response) => response.writeHead(up ? 200 : 502).end())
  closing.push(receiver.close)
  const id = await store.enqueue(receiver.url)
  store.startRunner({ waitsSeconds: [0.01, 0.02, 0.02] })
  expect(await store.until(id)).toMatchObject({ status: 'failed', attempts: 4, message: '502 Bad Gateway' })
  expect(receiver.received.length).toBe(4)
  up = true
  const retried = await store.sql.begin((tx) => retryDelivery(tx, 'slice_callback', id))
  expect(retried).toMatchObject({ status: 'pending', attempts: 0, message: '', dueAt: expect.any(Date) })
  expect(await store.until(id)).toMatchObject({ status: 'succeeded', attempts: 1 })
  expect(new Set(receiver.received.map((one) => one.headers['webhook-id'])).size).toBe(1)
})

test('a manual retry of a delivery that waits for its next attempt starts at once and keeps the count', async () => {
  let up = false
  const receiver = await startReceiver((response) => response.writeHead(up ? 200 : 500).end())
  closing.push(receiver.close)
  const id = await store.enqueue(receiver.url)
  store.startRunner({ waitsSeconds: [3600] })
  await store.until(id, ({ status }) => status === 'retrying')
  up = true
  await store.sql.begin((tx) => retryDelivery(tx, 'slice_callback', id))
  expect(await store.until(id)).toMatchObject({ status: 'succeeded', attempts: 2 })
})

test('Retry-After makes a wait longer', async () => {
  const receiver = await startReceiver((response) => response.writeHead(503, { 'retry-after': '600' }).end())
  closing.push(receiver.close)
  const id = await store.enqueue(receiver.url)
  store.startRunner({ waitsSeconds: [0.01] })
  const { dueAt, updatedAt } = await store.until(id, ({ status }) => status === 'retrying')
  expect((dueAt as Date).getTime() - updatedAt.getTime()).toBe(600_000)
})

test('200 hanging receivers, and one that hangs for many deliveries, do not delay a healthy one', async () => {
  const hanging = await Promise.all(Array.from({ length: 200 }, () => startTcpReceiver(() => {})))
  closing.push(...hanging.map((one) => one.close))
  for (const { url } of hanging) await store.enqueue(url)
  const [worst] = hanging
  for (let i = 0; i < 300; i++) await store.enqueue((worst as { url: string }).url)
  store.startRunner({ drainMs: 0 })
  await expect.poll(() => hanging.every((one) => one.connections() > 0)).toBe(true)
  const healthy = await startReceiver()
  closing.push(healthy.close)
  const id = await store.enqueue(healthy.url)
  expect(await store.until(id)).toMatchObject({ status: 'succeeded', attempts: 1 })
  // None of them has even timed out: nothing was waited for.
  const [open] = await store.sql<{ n: number }[]>`SELECT count(*) AS n FROM delivery_attempts`
  expect(open?.n).toBe(1)
})

test('two runners on one store send 500 deliveries, each once, none by both at a time', async () => {
  const under = new Map<string, number>()
  let most = 0
  const by: [number, number] = [0, 0]
  const runner = (which: 0 | 1) =>
    store.startRunner({
      deliver: async ({ id }) => {
        under.set(id, (under.get(id) ?? 0) + 1)
        most = Math.max(most, under.get(id) ?? 0)
        await new Promise((resolve) => setTimeout(resolve, 5))
        by[which]++
        under.set(id, (under.get(id) ?? 0) - 1)
        return success(DONE)
      },
    })
  const ids = await Promise.all(Array.from({ length: 500 }, (_, i) => store.enqueue(`http://10.0.0.${i % 50}/`)))
  runner(0)
  runner(1)
  for (const id of ids) await store.until(id)
  expect(most).toBe(1)
  expect(by[0] + by[1]).toBe(500)
  expect(Math.min(...by)).toBeGreaterThan(0)
  const [lines] = await store.sql<{ n: number; each: number }[]>`
    SELECT count(*) AS n, count(DISTINCT delivery_id) AS each FROM delivery_attempts WHERE outcome = 'succeeded'`
  expect(lines).toEqual({ n: 500, each: 500 })
})

describe('when its holder dies', () => {
  const claim = {
    owner: '00000000-0000-4000-8000-000000000001',
    lane: 'message',
    limit: 10,
    perDestination: 4,
  } as const

  test('a delivery is taken over once the lease has expired; the interrupted attempt leaves a line and does not count', async () => {
    const id = await store.enqueue('http://10.0.0.1/')
    const [dead] = await claimDeliveries(store.sql, { ...claim, leaseSeconds: 60 })
    expect(await claimDeliveries(store.sql, { ...claim, leaseSeconds: 15 })).toEqual([])
    await store.sql`UPDATE deliveries SET lease_until = leased_at WHERE id = ${id}`
    store.startRunner({ deliver: async () => success(DONE) })
    expect(await store.until(id)).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect((await store.attempts(id)).map(({ outcome }) => outcome)).toEqual(['succeeded', 'interrupted'])
    // The dead runner was only slow: its report no longer counts.
    const line = {
      startedAt: new Date(),
      durationMs: 1,
      outcome: 'failed',
      httpStatus: null,
      said: DONE,
      answer: '',
    } as const
    expect(await settleDelivery(store.sql, claim.owner, dead!, { status: 'failed' }, line)).toBe(false)
    expect(await renewLeases(store.sql, claim.owner, [dead!], 15)).toEqual(new Set())
    expect(await store.read(id)).toMatchObject({ status: 'succeeded', attempts: 1 })
  })

  test('a delivery is taken over if the clock of the store has stepped back since it was leased', async () => {
    const id = await store.enqueue('http://10.0.0.1/')
    expect(await claimDeliveries(store.sql, { ...claim, perDestination: 1, leaseSeconds: 15 })).toHaveLength(1)
    await store.sql`UPDATE deliveries SET leased_at = now() + interval '2 hours', lease_until = now() + interval '1 hour' WHERE id = ${id}`
    const taken = await claimDeliveries(store.sql, { ...claim, perDestination: 1, leaseSeconds: 15 })
    expect(taken.map((one) => one.id)).toEqual([id])
    expect(await store.attempts(id)).toMatchObject([{ outcome: 'interrupted', durationMs: 0 }])
  })

  test('a holder that renews its lease keeps it', async () => {
    await store.enqueue('http://10.0.0.1/')
    const [held] = await claimDeliveries(store.sql, { ...claim, leaseSeconds: 1 })
    expect((await renewLeases(store.sql, claim.owner, [held!], 60)).size).toBe(1)
    // Beyond the end of the first lease.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(await claimDeliveries(store.sql, { ...claim, leaseSeconds: 1 })).toEqual([])
  })
})

test('a stopped runner lets messages end, aborts transfers, and returns unfinished ones', async () => {
  let begun = () => {}
  const running = new Promise<void>((resolve) => {
    begun = resolve
  })
  const id = await store.enqueue('http://10.0.0.1/')
  const stop = store.startRunner({
    drainMs: 50,
    deliver: (_, signal) =>
      new Promise((resolve) => {
        begun()
        signal.addEventListener('abort', () => resolve(failure(coded('delivery_closed_before_answer'))))
      }),
  })
  await running
  await stop()
  expect(await store.read(id)).toMatchObject({ status: 'pending', attempts: 0, dueAt: expect.any(Date) })
  expect(await store.attempts(id)).toMatchObject([
    {
      outcome: 'interrupted',
      message: 'the control plane stopped',
      messageCoded: coded('delivery_interrupted_stopped'),
    },
  ])
  store.startRunner({ deliver: async () => success(DONE) })
  expect(await store.until(id)).toMatchObject({ status: 'succeeded', attempts: 1 })
})

test('the number of concurrent deliveries to one destination is limited, over all runners', async () => {
  let now = 0
  let most = 0
  const deliver = async () => {
    most = Math.max(most, ++now)
    await new Promise((resolve) => setTimeout(resolve, 20))
    now--
    return success(DONE)
  }
  const ids = await Promise.all(Array.from({ length: 40 }, () => store.enqueue('http://10.0.0.1/')))
  store.startRunner({ deliver })
  for (const id of ids) await store.until(id)
  expect(most).toBe(4)
})

test('an attempt that throws is a failed attempt', async () => {
  const id = await store.enqueue('http://10.0.0.1/')
  store.startRunner({
    waitsSeconds: [0.01],
    deliver: async () => {
      throw new Error('the disk is full')
    },
  })
  expect(await store.until(id)).toMatchObject({ status: 'failed', attempts: 2, message: 'the disk is full' })
})

describe('no packet is sent to a forbidden destination:', () => {
  let port: number
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, () => resolve()))
    port = (server.address() as { port: number }).port
  })
  afterAll(() => void server.close())

  test('a callback to the store fails with the reason, and without a connection', async () => {
    const id = await store.enqueue('http://127.0.0.1:15432/')
    store.startRunner({ waitsSeconds: [0.01] })
    expect(await store.until(id)).toMatchObject({
      status: 'failed',
      message: 'the destination is refused: the store is never a destination',
    })
  })

  test('an address that means this machine in disguise', async () => {
    const ids = await Promise.all(
      ['0.0.0.0', '0', '[::]', '[64:ff9b::127.0.0.1]', '[::127.0.0.1]'].map((host) =>
        store.enqueue(`http://${host}:${port}/`),
      ),
    )
    store.startRunner({ waitsSeconds: [0.01] })
    for (const id of ids)
      expect(await store.until(id)).toMatchObject({ status: 'failed', message: expect.stringContaining('refused') })
    expect(connections).toBe(0)
  })
})
