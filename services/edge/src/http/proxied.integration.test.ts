import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { answerUpstream, ask, running, useServingEdge } from '../testing/serving-edge.js'

useServingEdge()

test('a proxied request is rebuilt: with an unchanged body, and without the headers of the edge', async () => {
  const body = randomBytes(700_000)
  answerUpstream(async (req, res) => {
    const parts: Buffer[] = []
    for await (const part of req) parts.push(part as Buffer)
    const sent = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ url: req.url, headers: req.headers, method: req.method, sent }))
  })
  const answer = await ask('/api/v1/x/../y?a=%20', {
    method: 'POST',
    body,
    headers: {
      'x-edge-key': 'forged',
      'x-edge-peer': '127.9.9.9',
      'x-forwarded-for': '1.2.3.4',
      connection: 'x-trace, close',
      'x-trace': '1',
    },
  })
  const seen = JSON.parse(answer.body.toString())
  expect(seen.url).toBe('/api/v1/x/../y?a=%20')
  expect(seen.sent).toBe(createHash('sha256').update(body).digest('hex'))
  expect(seen.headers).toMatchObject({
    'x-edge-key': 'the edge key',
    'x-edge-peer': '127.0.0.1',
    'x-forwarded-for': '1.2.3.4',
  })
  expect(seen.headers['x-trace']).toBeUndefined()
})

test.each([true, false])(
  'a slow client gets the whole response of the control plane (length known: %s)',
  async (known) => {
    const body = randomBytes(6_000_000)
    answerUpstream((_, res) => {
      if (known) res.setHeader('content-length', body.length)
      // Pieces of many sizes: bytes that are held back while the socket is full must be sent in order.
      for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 3) % 200_000)
        res.write(body.subarray(at, at + size))
      res.end()
    })
    const hash = createHash('sha256')
    await new Promise<void>((resolve, reject) => {
      const request = http.get(`${running.url}/api/v1/large`, { agent: false }, (res) => {
        res.on('data', (part: Buffer) => {
          hash.update(part)
          res.pause()
          setImmediate(() => setImmediate(() => res.resume()))
        })
        res.once('end', resolve)
      })
      request.once('error', reject)
    })
    expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'))
  },
)

test('an event reaches the client during the response, and a disconnect reaches the control plane', async () => {
  let left: () => void = () => {}
  const upstreamClosed = new Promise<void>((resolve) => {
    left = resolve
  })
  answerUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: 1\n\n')
    res.once('close', left)
  })
  const event = await new Promise<string>((resolve) => {
    const request = http.get(`${running.url}/api/v1/events`, { agent: false }, (res) => {
      res.once('data', (part: Buffer) => {
        request.destroy()
        resolve(part.toString())
      })
    })
    request.on('error', () => {})
  })
  expect(event).toBe('data: 1\n\n')
  await upstreamClosed
})

test('a response that breaks off is cut, and never looks complete', async () => {
  answerUpstream((_, res) => {
    res.writeHead(200, { 'content-length': 100 })
    res.write('half')
    setImmediate(() => res.destroy())
  })
  await expect(ask('/api/v1/broken')).rejects.toThrow()
})

test('a control plane that hangs up without a response causes 503 with Retry-After, in the form of all errors', async () => {
  answerUpstream((req) => void req.socket.destroy())
  for (const method of ['GET', 'POST']) {
    const answer = await ask('/api/v1/x', { method })
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(JSON.parse(answer.body.toString())).toEqual({ error: expect.any(String) })
  }
})

/** More clients than the edge has connections to its control plane. */
const READERS = 140
/** Clients with small segments and windows, as over a network, so that the kernel buffers little for them. They read when told to. */
const SLOW_CLIENTS = `
import socket, sys
port, readers, length = map(int, sys.argv[1:])
def client():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    s.connect(("127.0.0.1", port))
    s.sendall(b"GET /api/v1/large HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    return s
sockets = [client() for _ in range(readers)]
sys.stdin.readline()
arrived = 0
while arrived < length:
    chunk = sockets[0].recv(65536)
    if not chunk:
        break
    arrived += chunk.count(b"~")
print(arrived)
`

test.each([
  ['of a known length', true],
  ['in chunks', false],
])('clients that read nothing of a response %s occupy no connection to the control plane', async (_, isKnown) => {
  const answer = Buffer.alloc(300_000, '~')
  let asked = 0
  const allAsked = new Promise<void>((resolve) => {
    answerUpstream((_req, res) => {
      if (isKnown) res.setHeader('Content-Length', answer.length)
      res.end(answer)
      if (++asked === READERS) resolve()
    })
  })
  const args = [new URL(running.url).port, READERS, answer.length].map(String)
  const clients = spawn('python3', ['-c', SLOW_CLIENTS, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  // After a failure they would occupy the edge's buffers for all clients, and their port.
  onTestFinished(() => void clients.kill())
  await allAsked
  clients.stdin.end('read\n')
  expect((await text(clients.stdout)).trim()).toBe(String(answer.length))
})
