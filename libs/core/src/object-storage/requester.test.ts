import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { ObjectStoreTrouble } from './errors.js'
import type { ObservedRequest } from './object-store.js'
import { Requester } from './requester.js'

let server: Server
let requester: Requester
afterEach(async () => {
  await requester.close()
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
})

/** Starts a server that sends only `begin` of every response; returns the requests that it observed. */
async function hanging(begin: string): Promise<ObservedRequest[]> {
  const seen: ObservedRequest[] = []
  server = createServer((_, response) => {
    if (begin === '') return
    response.writeHead(200, { 'content-length': 100 })
    response.write(begin)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  requester = new Requester(
    origin,
    null,
    (request) => seen.push(request),
    () => 0,
    50,
  )
  return seen
}

const ask = () => requester.send({ method: 'GET', path: '/', headers: () => ({}), maxBytes: 100 })

test.each([
  ['no answer', ''],
  ['half an answer', 'half'],
])('%s in time is a failure, after a few attempts', async (_, begin) => {
  const seen = await hanging(begin)
  await expect(ask()).rejects.toThrow(ObjectStoreTrouble)
  expect(seen.map(({ status }) => status)).toEqual([null, null, null])
})

test('a request that fails five times in a row is not retried, however many attempts are left', async () => {
  const seen = await hanging('')
  await expect(ask()).rejects.toThrow(ObjectStoreTrouble)
  await expect(ask()).rejects.toThrow(ObjectStoreTrouble)
  expect(seen).toHaveLength(5)
  expect(requester.circuit.state).not.toBe('closed')
})
