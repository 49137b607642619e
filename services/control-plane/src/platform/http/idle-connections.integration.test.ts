import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from './app-type.js'
import { endIdleConnections } from './idle-connections.js'

const WITHIN_MS = 1_000
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

const app = Fastify({ keepAliveTimeout: 60_000 }) as unknown as App
beforeAll(async () => {
  endIdleConnections(app, WITHIN_MS)
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
