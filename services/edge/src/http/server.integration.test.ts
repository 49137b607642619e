import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { answerUpstream, ask, running, useServingEdge } from '../testing/serving-edge.js'

useServingEdge()

test('other methods on the addresses of the edge return 405 with Allow, and preflight names the allowed ones', async () => {
  for (const address of [
    '/tiles/raster/0/0/0.png',
    '/geojson/x',
    '/shp/x',
    '/vectors/points/download',
    '/health',
    '/metrics',
  ]) {
    const answer = await ask(address, { method: 'DELETE' })
    expect([answer.status, answer.headers.allow], address).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
  const preflight = await ask('/tiles/raster/0/0/0.png', { method: 'OPTIONS' })
  expect(preflight.status).toBe(204)
  expect(preflight.headers['access-control-allow-headers']).toContain('X-Access-Token')
})

test('a process that was cut off for too long returns 503, even for known tokens and tiles', async () => {
  expect((await ask('/tiles/raster/0/0/0.png')).status).toBe(200)
  const { freshness } = running.edge
  Object.assign(running.edge, { freshness: { ...freshness, leaseExpiresAt: performance.now() - 1 } })
  try {
    // The native table follows within a sweep: it already has the time until which it may answer.
    await expect.poll(async () => (await ask('/tiles/raster/0/0/0.png')).status).toBe(503)
    for (const address of ['/tiles/raster/0/0/0.png', '/vectors/points/download', '/ready']) {
      const answer = await ask(address)
      expect([answer.status, answer.headers['retry-after']], address).toEqual([503, '5'])
    }
    expect((await ask('/health')).status).toBe(200)
  } finally {
    Object.assign(running.edge, { freshness })
  }
})

/** Sends bytes, and returns all bytes that arrive until the connection ends, each as one character. */
async function talk(bytes: string): Promise<string> {
  const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1')
  socket.write(bytes)
  return (await buffer(socket)).toString('latin1')
}

test('HTTP/1.0 is answered without keep-alive and chunks, with or without a Host', async () => {
  const isNative = running.edge.sender.tier === 'native'
  const mine = `X-Access-Token: ${running.token}\r\n`
  for (const lines of ['', 'Host: x\r\n', 'Host: x\r\nConnection: keep-alive\r\n', 'Connection: close\r\n']) {
    const requests = [
      ['200', 'GET /ready', ''],
      ['200', 'HEAD /health', ''],
      ['200', 'GET /tiles/raster/0/0/0.png', mine],
      ['200', 'GET /tiles/raster/0/0/0.png', mine],
      ['200', `GET /tiles/raster/0/0/0.png?token=${running.token}`, ''],
      ['200', 'GET http://x/geojson/points.geojson', mine],
      ['401', 'GET /tiles/raster/0/0/0.png', ''],
      ['404', 'GET /tiles/raster/9/9/9.png', mine],
    ] as const
    for (const [status, line, fields] of requests) {
      const answer = await talk(`${line} HTTP/1.0\r\n${lines}${fields}\r\n`)
      // Without the native tier uWebSockets.js answers itself.
      expect(answer, line).toMatch(new RegExp(`^HTTP/1\\.1 ${isNative ? status : '505'} `))
      if (!isNative) continue
      const [head = '', body] = answer.split(/\r\n\r\n(.*)/s)
      expect([head.match(/^connection:.*$/gim), /^transfer-encoding/im.test(head)], line).toEqual([
        ['Connection: close'],
        false,
      ])
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
      expect(line.startsWith('HEAD') ? length > 0 : length === body?.length, `${line}: ${head}`).toBe(true)
    }
  }
  expect(await talk('GET /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 (400|505) /,
  )
  expect(await talk('GET /health HTTP/2.0\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 505 /)
})

test('HTTP/1.0 gets a response of unknown length until the connection ends', async () => {
  if (running.edge.sender.tier !== 'native') return
  // Longer than the buffers of sockets, so that the client's pace decides.
  const piece = Buffer.alloc(300_000, 'abcdefghij').toString()
  for (const pieces of [[], ['a'], ['first ', 'second'], Array<string>(40).fill(piece)]) {
    answerUpstream(async (_, res) => {
      for (const one of pieces) {
        if (!res.write(one)) await once(res, 'drain')
      }
      setImmediate(() => res.end())
    })
    const answer = await talk('GET /api/v1/chunked HTTP/1.0\r\n\r\n')
    const [head = '', body = ''] = answer.split(/\r\n\r\n(.*)/s)
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(head).toMatch(/^connection: close$/im)
    expect(head).not.toMatch(/^transfer-encoding/im)
    expect(body === pieces.join(''), `${pieces.length} pieces, ${body.length} bytes`).toBe(true)
  }
})

test('a body in HTTP/1.0 reaches the control plane, and events arrive as they happen', async () => {
  if (running.edge.sender.tier !== 'native') return
  answerUpstream(async (req, res) => {
    if (req.method === 'POST') return void res.end(await text(req))
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: 1\n\n')
  })
  const posted = 'POST /api/v1/echo HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"a": 1}'
  expect(await talk(posted)).toMatch(/\r\n\r\n\{"a": 1\}$/)
  const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1')
  socket.write('GET /api/v1/events HTTP/1.0\r\nAccept: text/event-stream\r\n\r\n')
  let seen = ''
  for await (const part of socket) {
    seen += part
    if (seen.endsWith('data: 1\n\n')) break
  }
  expect(seen).not.toMatch(/^(transfer-encoding|content-length)/im)
})

test('a client that wants its connection to end gets the header, and it ends, for any response', async () => {
  answerUpstream((_, res) => {
    res.write('first ')
    setImmediate(() => res.end('second'))
  })
  const { edge, token } = running
  const { headers } = await ask('/tiles/raster/0/0/0.png')
  const mine = `X-Access-Token: ${token}\r\n`
  const requests = [
    ['200', '/tiles/raster/0/0/0.png', mine],
    ['200', '/tiles/raster/1/0/0.png', mine],
    ['200', '/tiles/vector/0/0/0.pbf', mine],
    ['304', '/tiles/raster/0/0/0.png', `${mine}If-None-Match: ${headers.etag}\r\n`],
    ['404', '/tiles/raster/9/9/9.png', mine],
    ['204', '/tiles/raster/9/9/9.png?missing=204', mine],
    ['401', '/tiles/raster/0/0/0.png', ''],
    ['401', '/geojson/points.geojson', ''],
    ['200', '/geojson/points.geojson', mine],
    ['200', '/health', ''],
    ['200', '/ready', ''],
    ['200', '/api/v1/chunked', ''],
  ] as const
  // Without the native tier the server understands only the first form.
  const forms = ['close', 'Close', 'keep-alive, close', 'TE ,CLOSE'].slice(0, edge.sender.tier === 'native' ? 4 : 1)
  for (const connection of forms) {
    for (const [status, target, lines] of requests) {
      for (const method of ['GET', 'HEAD']) {
        const about = `${method} ${target}, ${connection}`
        const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1')
        socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\n${lines}Connection: ${connection}\r\n\r\n`)
        const [head = ''] = (await text(socket)).split('\r\n\r\n')
        expect(head, about).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
        expect(head.match(/^Connection: .*$/gm), about).toEqual(['Connection: close'])
      }
    }
  }
})

test('the catalog is answered without the control plane: compressed, by tag, to HEAD, and refused in the order of all refusals', async () => {
  answerUpstream((_, res) => res.writeHead(500).end())
  const list = await ask('/api/v1/catalog/basemaps?limit=2')
  expect([list.status, list.headers]).toMatchObject([
    200,
    {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      vary: 'Accept-Encoding',
      etag: expect.stringMatching(/^W\/"/),
    },
  ])
  const gzipped = await ask('/api/v1/catalog/basemaps?limit=2', { headers: { 'accept-encoding': 'br, gzip' } })
  expect([gzipped.headers['content-encoding'], gzipped.headers.etag]).toEqual(['gzip', list.headers.etag])
  expect(gunzipSync(gzipped.body)).toEqual(list.body)
  const head = await ask('/api/v1/catalog/basemaps?limit=2', { method: 'HEAD' })
  expect([head.status, head.headers['content-length']]).toEqual([200, String(list.body.length)])
  const same = await ask('/api/v1/catalog/basemaps?limit=2', {
    headers: { 'if-none-match': `"x", ${list.headers.etag}` },
  })
  expect([same.status, same.body.length, same.headers.etag]).toEqual([304, 0, list.headers.etag])
  const status = async (target: string, options = {}) => (await ask(`/api/v1/catalog/${target}`, options)).status
  const nobody = { headers: { 'x-access-token': '' } }
  expect(await status('vectors/roads')).toBe(200)
  expect(await status('vectors/nowhere')).toBe(404)
  expect(await status('vectors/%E0%A4%A')).toBe(400)
  expect(await status('vectors?colour=red')).toBe(400)
  expect(await status('vectors?colour=red', nobody)).toBe(401)
  expect(await status('basemaps/nowhere', nobody)).toBe(401)
  expect(await status('basemaps', { method: 'DELETE' })).toBe(405)
})

test('a server under notice continues, is not ready, and ends each connection with its next response', async () => {
  running.server.giveNotice()
  answerUpstream((_, res) => {
    res.write('first ')
    setImmediate(() => res.end('second'))
  })
  const agent = new http.Agent({ keepAlive: true })
  expect((await ask('/ready')).status).toBe(503)
  for (const method of ['GET', 'HEAD']) {
    for (const target of [
      '/tiles/raster/v1/0/0/0.png',
      '/tiles/raster/v1/1/0/0.png',
      '/geojson/points.geojson',
      '/health',
      '/api/v1/chunked',
    ]) {
      const answer = await ask(target, { agent, method })
      expect([answer.status, answer.headers.connection], `${method} ${target}`).toEqual([200, 'close'])
    }
  }
  // The control plane's response has chunks, and the connection header must not be in them.
  expect((await ask('/api/v1/chunked')).body.toString()).toBe('first second')
})

test('a draining server ends event streams, finishes open requests, closes, and accepts no new ones', async () => {
  answerUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: 1\n\n')
  })
  const asked = http.get(`${running.url}/api/v1/events`, { agent: false })
  const [stream] = (await once(asked, 'response')) as [http.IncomingMessage]
  let release: () => void = () => {}
  const arrived = new Promise<void>((resolve) => {
    answerUpstream((_, res) => {
      release = () => res.end('late')
      resolve()
    })
  })
  const late = ask('/api/v1/late')
  await arrived
  const kept = net.connect(Number(new URL(running.url).port), '127.0.0.1')
  await new Promise<void>((resolve) => kept.once('connect', resolve))
  let drained = false
  const draining = running.server.drain(10).then(() => {
    drained = true
  })
  await expect(ask('/health')).rejects.toThrow('ECONNREFUSED')
  // A connection that was open before still gets its last response.
  kept.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  let answer = ''
  for await (const part of kept) answer += part
  expect(answer).toContain('200 OK')
  expect(answer).toContain('Connection: close')
  // The stream ends cleanly: this would throw for one that broke off.
  expect(await text(stream)).toBe('data: 1\n\n')
  expect(drained).toBe(false)
  release()
  expect((await late).body.toString()).toBe('late')
  await draining
})
