import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { loadSettings } from '@gateway/settings/load.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { freePort } from '../testing/free-port.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'
import { storedBasemap, storedVector, storedVersion } from '../testing/stored-rows.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-edge-'))
const SMALL = randomBytes(5_000)
const LARGE = randomBytes(900_000)
const VECTOR_TILE = Buffer.from(`\x1a${'layer '.repeat(3_000)}`)
const GEOJSON = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [], x: 'y'.repeat(400_000) }))

let running: RunningEdge
let upstream: http.Server
let onUpstream: http.RequestListener

function write(relativePath: string, data: Uint8Array): void {
  const file = path.join(home, relativePath)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, data)
}

beforeAll(async () => {
  write('maps/raster/0/0/0.png', SMALL)
  write('maps/raster/1/0/0.png', LARGE)
  write('maps/vector/0/0/0.pbf', gzipSync(VECTOR_TILE))
  write('maps/vector/1/0/0.pbf', gzipSync(Buffer.alloc(64 * 1024 * 1024)))
  write('vectors/points.geojson', GEOJSON)
  for (const extension of ['shp', 'shx', 'dbf']) write(`vectors/roads.${extension}`, randomBytes(1_000))
  const source = { sourcePath: path.join(home, 'maps') }
  const vectors = { sourcePath: path.join(home, 'vectors') }
  const catalog = nextCatalog(
    EMPTY_CATALOG,
    {
      codes: null,
      rows: [
        storedBasemap('raster', [storedVersion('v1', { path: path.join(home, 'maps/raster') })], {
          ...source,
          name: 'Raster '.repeat(100),
        }),
        storedBasemap(
          'vector',
          [storedVersion('v1', { path: path.join(home, 'maps/vector'), format: 'pbf', extension: 'pbf' })],
          source,
        ),
      ],
    },
    {
      codes: null,
      rows: [
        storedVector('points', { ...vectors, path: path.join(home, 'vectors/points.geojson') }),
        storedVector('roads', {
          ...vectors,
          kind: 'shapefile',
          fileName: 'röads.shp',
          relativePath: 'roads.shp',
          path: path.join(home, 'vectors/roads.shp'),
        }),
      ],
    },
  )
  upstream = http.createServer((req, res) => onUpstream(req, res))
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const controlPlane = `http://127.0.0.1:${(upstream.address() as net.AddressInfo).port}`
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane })
})

afterAll(async () => {
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  upstream.closeAllConnections()
  await new Promise((resolve) => upstream.close(resolve))
  fs.rmSync(home, { recursive: true, force: true })
})

/** A request whose body comes back as it was on the wire. */
function ask(address: string, options: http.RequestOptions & { body?: Uint8Array } = {}) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const headers = { 'x-access-token': running.token, ...(options.headers as object) }
    // Not as one address, which would be normalised on its way.
    const { hostname, port } = new URL(running.url)
    const req = http.request({ agent: false, ...options, hostname, port, path: address, headers }, async (res) => {
      try {
        const parts: Buffer[] = []
        for await (const part of res) parts.push(part as Buffer)
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(parts) })
      } catch (error) {
        reject(error)
      }
    })
    req.once('error', reject)
    req.end(options.body)
  })
}

/** By JavaScript and by the native table. */
function hotTileHits(): number {
  running.edge.counters.beforeReading()
  return running.edge.counters.hotTileHits
}

/** Asks until it comes from memory: it is kept once it was asked for several times, and what the kernel cannot tell at once is read once more. */
async function untilHot(address: string, headers = {}): Promise<void> {
  let before: number
  do {
    before = hotTileHits()
    await ask(address, { headers })
  } while (hotTileHits() === before)
}

test('a tile that is asked for again and again is answered from memory, with the same bytes and headers', async () => {
  const first = await ask('/tiles/raster/0/0/0.png')
  await untilHot('/tiles/raster/0/0/0.png')
  const before = hotTileHits()
  const hot = await ask('/tiles/raster/0/0/0.png')
  expect(hotTileHits()).toBe(before + 1)
  expect(first.body.equals(SMALL) && hot.body.equals(SMALL)).toBe(true)
  expect({ ...hot.headers, date: '' }).toEqual({ ...first.headers, date: '' })
})

test('a revision in the query changes nothing: the same tile, as hot, with the token wherever it stands', async () => {
  const tile = '/tiles/raster/0/0/0.png'
  const { token } = running
  await untilHot(tile)
  const lean = await ask(tile)
  for (const [query, headers] of [
    ['?v=3', {}],
    [`?v=3&token=${token}`, { 'x-access-token': '' }],
    [`?access_token=${token}&v=4`, { 'x-access-token': '' }],
  ] as const) {
    const before = hotTileHits()
    const revised = await ask(tile + query, { headers })
    expect(hotTileHits(), query).toBe(before + 1)
    expect({ ...revised.headers, date: '' }).toEqual({ ...lean.headers, date: '' })
    expect(revised.body.equals(SMALL)).toBe(true)
  }
})

test('every answer about a tile varies by the headers that carry tokens, in one line', async () => {
  const found = await ask('/tiles/raster/0/0/0.png')
  const answers = [
    found,
    await ask('/tiles/raster/1/0/0.png'),
    await ask('/tiles/raster/0/0/0.png', { method: 'HEAD' }),
    await ask('/tiles/raster/0/0/0.png', { headers: { 'if-none-match': found.headers.etag ?? '' } }),
  ]
  expect(answers.map(({ status, headers }) => [status, headers.vary])).toEqual(
    [200, 200, 200, 304].map((status) => [status, 'Authorization, X-Access-Token']),
  )
})

test('TILE_CACHE_CONTROL and CURRENT_CACHE_CONTROL stand in place of the year that the interface gives', async () => {
  const YEAR = 'public, max-age=31536000, immutable'
  const addresses = ['/tiles/raster/v1/0/0/0.png', '/tiles/raster/current/0/0/0.png', '/tiles/raster/0/0/0.png']
  const { edge } = running
  const { settings } = edge
  const forget = () => {
    for (const address of addresses) edge.tileCache.drop(address)
    edge.native.follow(EMPTY_CATALOG)
  }
  const values = async (env: NodeJS.ProcessEnv) => {
    // What is kept has been prepared by the settings before.
    Object.assign(edge, { settings: loadSettings({ ...env, CONFIG_FILE: '/nonexistent' }) })
    forget()
    return Promise.all(addresses.map(async (address) => (await ask(address)).headers['cache-control']))
  }
  expect(await values({})).toEqual([YEAR, YEAR, YEAR])
  expect(await values({ TILE_CACHE_CONTROL: 'private, max-age=60' })).toEqual(Array(3).fill('private, max-age=60'))
  expect(await values({ CURRENT_CACHE_CONTROL: 'no-cache' })).toEqual([YEAR, 'no-cache', 'no-cache'])
  expect(await values({ TILE_CACHE_CONTROL: 'private', CURRENT_CACHE_CONTROL: 'no-store' })).toEqual([
    'private',
    'no-store',
    'no-store',
  ])
  Object.assign(edge, { settings })
  forget()
})

test('HEAD has the headers of GET, of small tiles, large tiles and downloads', async () => {
  for (const address of [
    '/tiles/raster/0/0/0.png',
    '/tiles/raster/1/0/0.png',
    '/geojson/points.geojson',
    '/shp/roads.shp',
  ]) {
    const get = await ask(address)
    const head = await ask(address, { method: 'HEAD' })
    expect(get.status, address).toBe(200)
    expect(head.body).toHaveLength(0)
    expect({ ...head.headers, date: '' }, address).toEqual({ ...get.headers, date: '' })
  }
})

test('a packed vector tile goes out as stored, and plain with a tag of its own to a client that refuses gzip', async () => {
  const packed = await ask('/tiles/vector/0/0/0.pbf', { headers: { 'accept-encoding': 'gzip' } })
  const plain = await ask('/tiles/vector/0/0/0.pbf', { headers: { 'accept-encoding': 'gzip;q=0' } })
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(packed.body.equals(gzipSync(VECTOR_TILE))).toBe(true)
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.body.equals(VECTOR_TILE)).toBe(true)
  expect(plain.headers.etag).not.toBe(packed.headers.etag)
  for (const { headers } of [packed, plain]) {
    expect(headers.vary).toBe('Authorization, X-Access-Token, Accept-Encoding')
  }
  const again = await ask('/tiles/vector/0/0/0.pbf', { headers: { 'if-none-match': plain.headers.etag ?? '' } })
  expect([again.status, again.headers.vary, again.headers['content-length']]).toEqual([
    304,
    'Authorization, X-Access-Token, Accept-Encoding',
    undefined,
  ])
})

test('a tile that unpacks without end is refused instead of unpacked', async () => {
  const bomb = await ask('/tiles/vector/1/0/0.pbf', { headers: { 'accept-encoding': 'identity' } })
  expect(bomb.status).toBe(500)
  expect(JSON.parse(bomb.body.toString())).toEqual({ error: expect.any(String) })
})

test('a part of a download is those bytes, and a part for another state of the file is the whole file', async () => {
  const part = await ask('/vectors/points/download', { headers: { range: 'bytes=100-199999' } })
  expect(part.status).toBe(206)
  expect(part.headers['content-range']).toBe(`bytes 100-199999/${GEOJSON.length}`)
  expect(part.body.equals(GEOJSON.subarray(100, 200_000))).toBe(true)
  const whole = await ask('/vectors/points/download', { headers: { range: 'bytes=0-9', 'if-range': '"older"' } })
  expect([whole.status, whole.body.length]).toEqual([200, GEOJSON.length])
  const head = await ask('/vectors/points/download', { method: 'HEAD', headers: { range: 'bytes=0-9' } })
  expect([head.status, head.headers['content-length']]).toEqual([200, String(GEOJSON.length)])
})

test('a file name beyond ASCII is told in both forms', async () => {
  const zip = await ask('/vectors/roads/download', { method: 'HEAD' })
  expect(zip.headers['content-disposition']).toBe('attachment; filename="r?ads.zip"; filename*=UTF-8\'\'r%C3%B6ads.zip')
})

test('what goes to the control plane is rebuilt: its body as it came, its headers without those of the edge', async () => {
  const body = randomBytes(700_000)
  onUpstream = async (req, res) => {
    const parts: Buffer[] = []
    for await (const part of req) parts.push(part as Buffer)
    const sent = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ url: req.url, headers: req.headers, method: req.method, sent }))
  }
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
  'a slow reader gets the whole answer of the control plane (length known: %s)',
  async (known) => {
    const body = randomBytes(6_000_000)
    onUpstream = (_, res) => {
      if (known) res.setHeader('content-length', body.length)
      // Pieces of all sizes: what is held back while the socket is full must come out in order.
      for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 3) % 200_000)
        res.write(body.subarray(at, at + size))
      res.end()
    }
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

test('an event reaches the client while the answer goes on, and the client leaving reaches the control plane', async () => {
  let left: () => void = () => {}
  const upstreamClosed = new Promise<void>((resolve) => {
    left = resolve
  })
  onUpstream = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: 1\n\n')
    res.once('close', left)
  }
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

test('an answer that breaks off is cut, and looks complete to nobody', async () => {
  onUpstream = (_, res) => {
    res.writeHead(200, { 'content-length': 100 })
    res.write('half')
    setImmediate(() => res.destroy())
  }
  await expect(ask('/api/v1/broken')).rejects.toThrow()
})

test('a control plane that hangs up without an answer is 503 with Retry-After, in the one form of all errors', async () => {
  onUpstream = (req) => void req.socket.destroy()
  for (const method of ['GET', 'POST']) {
    const answer = await ask('/api/v1/x', { method })
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(JSON.parse(answer.body.toString())).toEqual({ error: expect.any(String) })
  }
})

test('other methods on the addresses of the edge are 405 with Allow, and preflight names what may be sent', async () => {
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

test('a process that was cut off for too long answers 503, even to tokens and tiles that it knows', async () => {
  expect((await ask('/tiles/raster/0/0/0.png')).status).toBe(200)
  const { freshness } = running.edge
  Object.assign(running.edge, { freshness: { ...freshness, trustedUntilMs: performance.now() - 1 } })
  try {
    // The native table follows within a sweep: it was told before until when it may answer.
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

test('an address of another form than a path, and an older HTTP for all but probes, are refused', async () => {
  const talk = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1', () => socket.write(text))
      let answer = ''
      socket.on('data', (part) => {
        answer += part
      })
      socket.once('close', () => resolve(answer))
    })
  for (const target of ['*', 'http://elsewhere/tiles/raster/0/0/0.png']) {
    const answer = await talk(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${running.token}\r\n\r\n`)
    expect(answer, target).toMatch(/^HTTP\/1\.1 (400|505) /)
  }
  const old = (head: string) => talk(`${head}\r\n\r\n`)
  expect(await old('GET /tiles/raster/0/0/0.png HTTP/1.0')).toMatch(/^HTTP\/1\.1 505 /)
  expect(await old('POST /health HTTP/1.0')).toMatch(/^HTTP\/1\.1 505 /)
  expect(await old('GET /health HTTP/1.0\r\nContent-Length: 5')).toMatch(/^HTTP\/1\.1 400 /)
  // Where the native tier is missing, uWebSockets.js answers by itself.
  const answered = running.edge.sender.tier === 'native' ? '200' : '505'
  for (const head of ['GET /ready HTTP/1.0', 'HEAD /health HTTP/1.0\r\nHost: x', 'GET /metrics HTTP/1.0']) {
    expect(await old(head), head).toMatch(new RegExp(`^HTTP/1\\.1 ${answered} `))
  }
})

test('a client that wants its connection to end is told so, and it ends, whatever the answer', async () => {
  onUpstream = (_, res) => {
    res.write('first ')
    setImmediate(() => res.end('second'))
  }
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
  // Without the native tier the server understands the first alone.
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

test('a tile in memory is not read anew for whoever asks for it in another form', async () => {
  const { token } = running
  const tile = '/tiles/raster/0/0/0.png'
  const asBasic = { authorization: `Basic ${Buffer.from(`user:${token}`).toString('base64')}`, 'x-access-token': '' }
  const byJavaScript = { 'if-match': '*' }
  // Put anew: what an earlier test put would be looked at again in the middle of this one, some 10 s later.
  running.edge.tileCache.drop(tile)
  running.edge.native.follow(EMPTY_CATALOG)
  for (const headers of [{}, byJavaScript]) await untilHot(tile, headers)
  for (const headers of [{}, asBasic, byJavaScript, { ...asBasic, ...byJavaScript }]) {
    for (const method of ['GET', 'HEAD']) {
      const before = hotTileHits()
      const { status } = await ask(tile, { method, headers })
      expect([status, hotTileHits()], `${method} ${Object.keys(headers)}`).toEqual([200, before + 1])
    }
  }
})

/** More than the connections of an edge to its control plane. */
const READERS = 140
/** Clients whose segments and windows are small, as over a network, so that the kernel takes little for them. They read when told to. */
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
])('clients that read nothing of an answer %s keep no connection to the control plane', async (_, isKnown) => {
  const answer = Buffer.alloc(300_000, '~')
  let asked = 0
  const allAsked = new Promise<void>((resolve) => {
    onUpstream = (_req, res) => {
      if (isKnown) res.setHeader('Content-Length', answer.length)
      res.end(answer)
      if (++asked === READERS) resolve()
    }
  })
  const args = [new URL(running.url).port, READERS, answer.length].map(String)
  const clients = spawn('python3', ['-c', SLOW_CLIENTS, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  // Where it fails they would keep what the edge may keep for all, and their port.
  onTestFinished(() => void clients.kill())
  await allAsked
  clients.stdin.end('read\n')
  expect((await text(clients.stdout)).trim()).toBe(String(answer.length))
})

test('the catalog is answered without the control plane: compressed, by tag, to HEAD, and refused in the order of all refusals', async () => {
  onUpstream = (_, res) => res.writeHead(500).end()
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

test('a server that was given notice goes on, says that it is not ready, and ends its connections with their next answer', async () => {
  running.server.giveNotice()
  onUpstream = (_, res) => {
    res.write('first ')
    setImmediate(() => res.end('second'))
  }
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
  // The answer of the control plane comes in chunks, and nothing else is in them.
  expect((await ask('/api/v1/chunked')).body.toString()).toBe('first second')
})

test('a draining server ends streams of events, finishes what is under way, closes, and takes nothing new', async () => {
  onUpstream = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: 1\n\n')
  }
  const asked = http.get(`${running.url}/api/v1/events`, { agent: false })
  const [stream] = (await once(asked, 'response')) as [http.IncomingMessage]
  let release: () => void = () => {}
  const arrived = new Promise<void>((resolve) => {
    onUpstream = (_, res) => {
      release = () => res.end('late')
      resolve()
    }
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
  // A connection from before is still answered, for the last time.
  kept.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  let answer = ''
  for await (const part of kept) answer += part
  expect(answer).toContain('200 OK')
  expect(answer).toContain('Connection: close')
  // In order: read as one that broke off, this would throw.
  expect(await text(stream)).toBe('data: 1\n\n')
  expect(drained).toBe(false)
  release()
  expect((await late).body.toString()).toBe('late')
  await draining
})
