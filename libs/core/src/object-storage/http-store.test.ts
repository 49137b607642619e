import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { guardWith, LOOPBACK_SERVICE, OPEN_SERVICE } from '../outgoing/testing/guards.js'
import { ObjectRefused, ObjectReplaced, ObjectStoreTrouble } from './errors.js'
import type { ObjectStore } from './object-store.js'
import { openHttpStore, openObjectStore } from './open.js'

const S3 = {
  s3Endpoint: null,
  s3Region: 'us-east-1',
  s3ForcePathStyle: false,
  awsAccessKeyId: null,
  awsSecretAccessKey: null,
  awsSessionToken: null,
}
const FIRST = { offset: 0, length: 4 }
const clean: (() => unknown)[] = []

afterEach(async () => {
  for (const step of clean.splice(0)) await step()
})

/** Returns a store for a server that responds by `listener`. */
async function storeOf(listener: RequestListener): Promise<{ store: ObjectStore; asked: () => number }> {
  let asked = 0
  const server: Server = createServer((request, response) => {
    asked += 1
    listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const store = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/dir/`)
  clean.push(() => store.close())
  clean.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  return { store, asked: () => asked }
}

function open(url: string, guard = LOOPBACK_SERVICE): ObjectStore {
  return openObjectStore(url, { ...guard, ...S3 })
}

const part: RequestListener = (request, response) => {
  response.writeHead(206, { 'content-range': 'bytes 0-3/10', 'content-length': 4, etag: '"one"' })
  response.end(request.url === '/dir/a%20b' ? 'abcd' : 'else')
}

test('the caller does not notice a transient failure', async () => {
  let answers = 0
  const { store, asked } = await storeOf((request, response) => {
    answers += 1
    if (answers === 1) response.writeHead(503).end()
    else if (answers === 2) response.destroy()
    else part(request, response)
  })
  expect((await store.read('a b', FIRST)).bytes.toString()).toBe('abcd')
  expect(asked()).toBe(3)
})

test('a truncated body is requested again, and a truncated stream ends with an error', async () => {
  const { store, asked } = await storeOf((_, response) => {
    response.writeHead(asked() % 2 === 1 ? 206 : 200, { 'content-range': 'bytes 0-3/4', 'content-length': 4 })
    response.write('ab', () => response.destroy())
  })
  await expect(store.read('x', FIRST)).rejects.toThrow(ObjectStoreTrouble)
  expect(asked()).toBe(3)
  const { body } = await store.stream('x')
  await expect(buffer(body)).rejects.toThrow(ObjectStoreTrouble)
})

test('a stream whose object was replaced, or that its caller leaves, ends its connection', async () => {
  let closed = 0
  const { store } = await storeOf((_, response) => {
    response.once('close', () => closed++)
    response.writeHead(200, { 'content-length': 1_000_000, etag: '"two"' }).write('begin')
  })
  await expect(store.stream('x', { ifMatch: '"one"' })).rejects.toThrow(ObjectReplaced)
  await expect.poll(() => closed).toBe(1)
  const { body } = await store.stream('x')
  for await (const chunk of body) {
    expect(String(chunk)).toBe('begin')
    break
  }
  await expect.poll(() => closed).toBe(2)
})

test('a stream whose announced length exceeds the room is not started', async () => {
  let closed = 0
  const { store } = await storeOf((request, response) => {
    response.once('close', () => closed++)
    response.writeHead(200, { 'content-length': request.method === 'HEAD' ? 4 : 1e12, etag: '"one"' })
    if (request.method === 'HEAD') response.end()
    else response.write('begin')
  })
  const facts = await store.head('x')
  await expect(store.stream('x', { ifMatch: '"one"', size: facts?.size })).rejects.toThrow(ObjectReplaced)
  await expect.poll(() => closed).toBe(2)
})

test('a server that asks for patience is not retried at once, and after failures in a row not at all for a while', async () => {
  const { store, asked } = await storeOf((_, response) => response.writeHead(429, { 'retry-after': '7' }).end())
  await expect(store.head('x')).rejects.toMatchObject({ name: 'ObjectStoreTrouble', retryAfterSeconds: 7 })
  expect(asked()).toBe(1)
  for (let i = 0; i < 4; i++) await store.head('x').catch(() => {})
  expect([asked(), store.circuit]).toEqual([5, expect.stringMatching(/open/)])
})

test('a refusal of the server is not retried, and does not count as a failure of the store', async () => {
  const { store, asked } = await storeOf((_, response) => response.writeHead(403).end())
  for (let i = 0; i < 6; i++) await expect(store.head('x')).rejects.toThrow(ObjectRefused)
  expect([asked(), store.circuit]).toEqual([6, 'closed'])
})

test('a server without ranges serves only the start of an object', async () => {
  const { store } = await storeOf((_, response) => response.writeHead(200, { 'content-length': 6 }).end('abcdef'))
  expect((await store.read('x', FIRST)).bytes.toString()).toBe('abcd')
  await expect(store.read('x', { offset: 1, length: 2 })).rejects.toThrow(ObjectRefused)
})

test('a tag that the server does not compare is compared here', async () => {
  const { store } = await storeOf(part)
  await expect(store.read('x', FIRST, { ifMatch: '"other"' })).rejects.toThrow(ObjectReplaced)
  await expect(store.read('x', FIRST, { ifMatch: 'W/"weak"' })).rejects.toThrow(ObjectReplaced)
  expect((await store.read('x', FIRST, { ifMatch: '"one"' })).facts).toMatchObject({ size: 10, etag: '"one"' })
})

test('a caller that aborts ends its request, and the store continues', async () => {
  const { store, asked } = await storeOf((request, response) => {
    if (request.url !== '/dir/hangs') part(request, response)
  })
  const gone = new AbortController()
  const read = store.read('hangs', FIRST, { signal: gone.signal })
  await expect.poll(asked).toBe(1)
  gone.abort(new Error('the caller has gone'))
  await expect(read).rejects.toThrow('the caller has gone')
  expect((await store.read('a b', FIRST)).bytes.toString()).toBe('abcd')
})

test('a forbidden destination of deliveries is refused, without a retry', async () => {
  for (const url of ['http://169.254.169.254/latest', 'http://127.0.0.1:1/x']) {
    const store = open(url, OPEN_SERVICE)
    clean.push(() => store.close())
    await expect(store.read('', FIRST)).rejects.toThrow(ObjectRefused)
    expect(store.circuit).toBe('closed')
  }
})

test('a name is checked for each connection, and only its checked addresses are dialled', async () => {
  const told = ['127.0.0.1', '169.254.169.254', '127.0.0.1']
  let lookedUp = 0
  const server = createServer((request, response) => {
    // Each request uses a separate connection.
    response.shouldKeepAlive = false
    part(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  clean.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  const url = `http://rebound.example:${(server.address() as AddressInfo).port}/dir`
  const guard = guardWith({}, async () => [{ address: told[lookedUp++] ?? '', family: 4 }])
  const store = openHttpStore(new URL(url), url, guard, () => {})
  clean.push(() => store.close())
  const read = async () => (await store.read('a b', FIRST)).bytes.toString()
  expect(await read()).toBe('abcd')
  await expect(read()).rejects.toThrow(ObjectRefused)
  expect(await read()).toBe('abcd')
  expect(lookedUp).toBe(3)
})
