import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from './app-type.js'
import { endIdleConnections } from './idle-connections.js'

const WITHIN_MS = 1_000
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

const app = Fastify({ keepAliveTimeout: 60_000, http: { headersTimeout: 0 }, requestTimeout: 0 }) as unknown as App
beforeAll(async () => {
  endIdleConnections(app, { firstHeadMs: WITHIN_MS, idleMs: WITHIN_MS })
  app.get('/', async () => ({}))
  app.get('/slow', async () => {
    await sleep(2 * WITHIN_MS)
    return {}
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

const connect = () => {
  const socket = net.connect((app.server.address() as net.AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

test('a connection that sends empty lines after a request is closed', async () => {
  const socket = connect()
  socket.write(REQUEST)
  await once(socket, 'data')
  const lines = setInterval(() => socket.write('\r\n'), WITHIN_MS / 10)
  socket.resume()
  // Unlike `once` of node:events, accepts the reset that a line gets after the close.
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(lines)
})

test('an active connection stays open, and a slow response is still delivered', async () => {
  const socket = connect()
  for (let i = 0; i < 5; i++) {
    socket.write(REQUEST)
    await once(socket, 'data')
  }
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  socket.destroy()
})

test('a connection whose first request does not arrive, or only slowly, is refused with 408', async () => {
  for (const letters of ['', REQUEST]) {
    const socket = connect()
    let sent = 0
    const writing = setInterval(() => socket.write(letters.slice(sent, ++sent)), WITHIN_MS / 10)
    const [answer] = await once(socket, 'data')
    clearInterval(writing)
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /)
    socket.destroy()
  }
})

test('a request that waits in the socket while the process is late is served', async () => {
  const connected = once(app.server, 'connection')
  const socket = connect()
  await connected
  socket.write(REQUEST)
  const until = performance.now() + 1.5 * WITHIN_MS
  while (performance.now() < until);
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  socket.destroy()
})
