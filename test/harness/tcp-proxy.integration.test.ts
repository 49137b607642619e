import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from './ports.js'
import { TcpProxy } from './tcp-proxy.js'

let echo: Server
let proxy: TcpProxy
let received: string

beforeEach(async () => {
  received = ''
  echo = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received += bytes
      socket.write(bytes)
    })
  })
  const port = await freePort()
  echo.listen(port, '127.0.0.1')
  await once(echo, 'listening')
  proxy = await TcpProxy.start({ host: '127.0.0.1', port })
})
afterEach(async () => {
  await proxy.close()
  await new Promise((resolve) => echo.close(resolve))
})

async function client(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1')
  socket.setEncoding('utf8').on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function said(socket: Socket): Promise<string> {
  const [text] = await once(socket, 'data')
  return text
}

/** Waits for the close. Unlike `once`, accepts the reset before it. */
function closing(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve))
}

test('bytes pass in both directions', async () => {
  const socket = await client()
  socket.write('hello')
  expect(await said(socket)).toBe('hello')
  socket.destroy()
})

test('after a cut connections are reset and new ones refused, until it is restored', async () => {
  const socket = await client()
  const closed = closing(socket)
  await proxy.cut()
  await closed
  await expect(client()).rejects.toThrow(/ECONNREFUSED/)
  await proxy.restore()
  const again = await client()
  again.write('back')
  expect(await said(again)).toBe('back')
  again.destroy()
})

test('data sent into a stall arrives after it, also on new connections', async () => {
  const before = await client()
  before.write('1')
  await said(before)
  proxy.stall()
  const during = await client()
  before.write('2')
  during.write('3')
  // A round trip past the proxy, so that the bytes would have come through if they could.
  const past = connect((echo.address() as { port: number }).port, '127.0.0.1')
  past.write('x')
  await once(past, 'data')
  expect(received).toBe('1x')
  const answers = [said(before), said(during)]
  await proxy.restore()
  expect(await Promise.all(answers)).toEqual(['2', '3'])
  for (const socket of [before, during, past]) socket.destroy()
})

test('swallowed data is lost, and its connection is reset on restore', async () => {
  const socket = await client()
  socket.write('1')
  await said(socket)
  proxy.swallow()
  const closed = closing(socket)
  socket.write('2')
  await proxy.restore()
  await closed
  expect(received).toBe('1')
})
