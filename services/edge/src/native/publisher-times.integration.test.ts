import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { expect, test } from 'vitest'
import {
  ask,
  BODIES,
  CURRENT,
  follower,
  issue,
  running,
  usePublishingEdge,
  V1,
  warm,
  withToken,
  write,
} from '../testing/publishing-edge.js'
import { RECHECK_MS } from '../tiles/tile-cache.js'

usePublishingEdge()

test('a tile in use stays in the table as long as its file is unchanged, and is not read again', async () => {
  await warm(V1)
  const by: Record<string, number> = { javascript: 0, storage: 0, table: 0 }
  const until = Date.now() + 2 * RECHECK_MS
  while (Date.now() < until) {
    const answer = await ask(V1, withToken())
    by[answer.by] = (by[answer.by] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  // JavaScript checks the tile again when its tile set is due.
  expect((by.javascript ?? 0) + (by.storage ?? 0)).toBeLessThanOrEqual(4)
  expect(by.table).toBeGreaterThan(100)
})

test('a token that expires is refused from that moment on', async () => {
  const expiresAtMs = Date.now() + 1_500
  const { token } = issue({ expiresAtMs })
  await warm(V1, withToken(token))
  for (;;) {
    const sentAt = Date.now()
    const { status, by } = await ask(V1, withToken(token))
    if (sentAt >= expiresAtMs) {
      expect([status, by]).toEqual([401, 'javascript'])
      return
    }
    if (Date.now() < expiresAtMs) expect(status).toBe(200)
  }
})

test('trust ends in the table when it ends in JavaScript', async () => {
  await warm(V1)
  const { edge } = running
  const { freshness } = edge
  const leaseExpiresAt = performance.now() + 1_500
  Object.assign(edge, { freshness: { loaded: true, leaseExpiresAt, catalog: follower.catalog } })
  try {
    for (;;) {
      const sentAt = performance.now()
      const { status, by } = await ask(V1, withToken())
      if (sentAt > leaseExpiresAt) {
        expect([status, by]).toEqual([503, 'javascript'])
        return
      }
      // The table's clock is coarser, and ends trust one tick too early rather than too late.
      if (performance.now() < leaseExpiresAt - 20) expect([status, by]).toEqual([200, 'table'])
    }
  } finally {
    Object.assign(edge, { freshness })
  }
})

test('a replaced tile file is detected within the promised time', async () => {
  await warm(CURRENT)
  const replacedAt = performance.now()
  const replaced = randomBytes(6_000)
  write('v1/0/0/0.png', replaced)
  const by = new Set<string>()
  for (let seen = false; !seen; ) {
    const sentAt = performance.now()
    const answer = await ask(CURRENT, withToken())
    by.add(answer.by)
    seen = answer.body.equals(replaced)
    if (!seen) expect(sentAt - replacedAt).toBeLessThan(RECHECK_MS)
  }
  expect(by).toContain('table')
  await warm(CURRENT)
  expect((await ask(CURRENT, withToken())).body.equals(replaced)).toBe(true)
})

test('a scan over more tiles than the table holds evicts no tile in use, and its tiles are not kept', {
  timeout: 180_000,
}, async () => {
  await warm(V1)
  const { native } = running.edge
  const targets = Array.from({ length: 1_800 }, (_, x) => `/tiles/alps/v1/11/${x}/0.png`)
  for (const target of targets) write(target.slice('/tiles/alps/'.length), BODIES.large)
  const before = native.bytes
  for (const target of targets) expect((await ask(target, withToken())).status).toBe(200)
  expect(native.bytes).toBeLessThanOrEqual(before)
  expect((await ask(V1, withToken())).by).toBe('table')
  // Repeated requests fill the table, but not beyond its capacity.
  for (let i = 0; i < 2; i++) for (const target of targets) await ask(target, withToken())
  expect(native.bytes).toBeGreaterThan(0.9 * native.capacityBytes)
  expect(native.bytes).toBeLessThanOrEqual(native.capacityBytes)
  expect((await ask(targets[0] as string, withToken())).by).toBe('table')
})

test('a draining process completes its responses, and adds Connection: close to each later one', async () => {
  const target = '/tiles/alps/v1/1/0/0.png'
  await warm(target)
  const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${running.token}\r\n\r\n`
  const { port } = new URL(running.url)
  const slow = net.connect(Number(port), '127.0.0.1')
  const late = net.connect(Number(port), '127.0.0.1')
  await Promise.all([slow, late].map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  slow.pause()
  const before = running.edge.native.answers
  slow.write(request.repeat(400))
  let answers = before
  do {
    answers = running.edge.native.answers
    await new Promise((resolve) => setTimeout(resolve, 50))
  } while (answers === before || running.edge.native.answers !== answers)
  expect(answers - before).toBeLessThan(400)
  let drained = false
  const draining = running.server.drain(20).then(() => {
    drained = true
  })
  late.write(request)
  const parts: Buffer[] = []
  for await (const part of late) parts.push(part as Buffer)
  const last = Buffer.concat(parts)
  expect(last.toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/)
  expect(last.subarray(-BODIES.large.length).equals(BODIES.large)).toBe(true)
  // Longer than a server without requests in progress stays.
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(drained).toBe(false)
  const received: Buffer[] = []
  for await (const part of slow) received.push(part as Buffer)
  await draining
  // All responses that the table had begun, and one more by JavaScript, which closed the connection.
  const all = Buffer.concat(received)
  const heads = all.toString('latin1').split('HTTP/1.1 200 OK\r\n').length - 1
  expect(heads).toBe(answers - before + 1)
  expect(all.subarray(-BODIES.large.length).equals(BODIES.large)).toBe(true)
})
