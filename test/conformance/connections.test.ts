import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { useMaps } from './maps.js'
import { rawRequest } from './raw-request.js'

const maps = useMaps()

/** Timeout for a response on a busy machine. A connection that the server stopped reading, the failure under test, never gets one. */
const ANSWER_WITHIN_MS = 30_000

const FIRST: [method: string, path: string, headers?: Record<string, string>][] = [
  ['OPTIONS', '/api/v1/catalog/basemaps', { origin: 'https://map.example', 'access-control-request-method': 'GET' }],
  ['OPTIONS', '/tiles/world/0/0/0.png'],
  ['OPTIONS', '/health'],
  ['HEAD', '/api/v1/system'],
  ['HEAD', '/api/v1/catalog/basemaps'],
  ['HEAD', '/api/v1/admin/tokens'],
  ['HEAD', '/tiles/world/0/0/0.png'],
  ['HEAD', '/nowhere'],
  ['HEAD', '/health'],
  ['DELETE', '/api/v1/catalog/basemaps'],
  ['POST', '/tiles/world/0/0/0.png'],
]

test.each(FIRST)('after %s %s the same connection serves the next request', async (method, path, headers = {}) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const first = await ask(agent, method, path, headers)
    if (first.status === 204) expect(first.contentLength).toBeUndefined()
    expect((await ask(agent, 'GET', '/health')).status).toBe(200)
  } finally {
    agent.destroy()
  }
})

test('after an oversized body the same connection serves the next request', async () => {
  const { adminToken, url } = maps().gateway
  const { host, hostname, port } = new URL(url)
  const head = `POST /api/v1/admin/tokens HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\n`
  // Timing decides if the edge has paused reading for its slow receiver when it gives up, so the test repeats.
  for (let round = 0; round < 30; round++) {
    const socket = connect(Number(port), hostname)
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error('no answer in time')))
    const answers = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n100001\r\n${' '.repeat(0x100001)}\r\n0`)
    expect(String((await answers.next()).value)).toMatch(/^HTTP\/1\.1 413 /)
    socket.write(`\r\n\r\nGET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(String((await answers.next()).value)).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  }
})

/** Request heads that no HTTP server can parse. */
const MALFORMED: [what: string, head: string][] = [
  ['no HTTP at all', 'GARBAGE'],
  ['no Host', 'GET /api/v1/system HTTP/1.1'],
  ['two Hosts', 'GET /api/v1/system HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: localhost'],
  ['a header without a colon', 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nnonsense'],
  ['a length that is no number', 'POST /api/v1/admin/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x'],
  ['an address with a user', 'GET http://user@127.0.0.1/health HTTP/1.1\r\nHost: 127.0.0.1'],
  ['an address that cannot be decoded', 'GET /api/v1/catalog/basemaps/%E0%A4%A HTTP/1.1\r\nHost: 127.0.0.1'],
]

test.each(MALFORMED)('a request with %s gets 400 in the fixed form from both processes', async (_, head) => {
  for (const url of [maps().gateway.url, maps().gateway.controlPlane.url]) {
    const answer = await rawRequest(url, `${head}\r\nConnection: close\r\n\r\n`)
    expect([answer?.status, answer?.head.match(/^content-type: *application\/json/im)?.length], url).toEqual([400, 1])
    expect(JSON.parse(answer?.body ?? ''), url).toEqual({ error: expect.stringMatching(/./) })
  }
})

function ask(agent: Agent, method: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; contentLength: string | undefined }>((resolve, reject) => {
    const sent = request(maps().gateway.url + path, { agent, method, headers, timeout: ANSWER_WITHIN_MS }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode, contentLength: answer.headers['content-length'] }))
    })
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} was not answered`)))
    sent.on('error', reject)
    sent.end()
  })
}
