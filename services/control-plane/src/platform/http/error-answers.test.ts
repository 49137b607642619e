import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { refusalOf } from './error-answers.js'

test('a caller that disconnects in the middle of a body does not count as a missing store', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  request.resume()
  const failed = once(request, 'error')
  socket.destroy()
  const [error] = await failed
  expect(refusalOf(error)).toMatchObject({ code: 'invalid_parameters' })
  server.close()
})
