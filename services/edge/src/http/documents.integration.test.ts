import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { SECRET_PLACE } from '../documents/document-cache.js'
import { partsMade } from '../standards/remembered.js'
import { type Catalog, EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'
import { RequestContext } from './request-context.js'
import { OWN_ROUTES } from './server.js'

const BASEMAPS = 3_000
const CAPABILITIES = '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities'
const LISTS = [
  CAPABILITIES,
  '/wms',
  '/wms?VERSION=1.1.1',
  '/ogc/collections',
  '/tms/1.0.0',
  '/api/v1/catalog/basemaps',
  '/api/v1/catalog/vectors',
]
/** Larger responses must be finished documents, which are sent from their file. */
const LARGEST_OWN_ANSWER = 64 * 1024

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-documents-'))
const basemap = (code: string, name = code) => storedBasemap(code, [storedVersion('v1')], { name })
const rows = Array.from({ length: BASEMAPS }, (_, i) => basemap(`map-${i}`))
const vectors = Array.from({ length: BASEMAPS }, (_, i) => storedVector(`roads-${i}`))
const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: vectors })

let running: RunningEdge
beforeAll(async () => {
  const port = await freePort()
  const env = { KEEP_ALIVE_SECONDS: '12' }
  running = await runEdge({ port, catalog, dataDir: home, controlPlane: 'http://127.0.0.1:1', stallSeconds: 1, env })
})
afterAll(async () => {
  await Promise.all([running.server.drain(0), running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function ask(address: string, headers: http.OutgoingHttpHeaders = { 'x-access-token': running.token }, method = 'GET') {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const request = http.request(`${running.url}${address}`, { agent: false, headers, method }, async (answer) => {
      const parts: Buffer[] = []
      for await (const part of answer) parts.push(part as Buffer)
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) })
    })
    request.once('error', reject)
    request.end()
  })
}

function issue(more: Partial<typeof READER> = {}): string {
  const token = createToken()
  running.storedTokens.set(tokenDigest(token).toString('hex'), { ...READER, id: token, ...more })
  return token
}

/** Counts the documents, and parts of them, that `work` makes. */
async function madeBy(work: () => Promise<unknown>) {
  const { built } = running.edge.documents
  const parts = partsMade.count
  await work()
  return { documents: running.edge.documents.built - built, parts: partsMade.count - parts }
}

function follow(next: Catalog): void {
  running.edge.native.follow(next)
  Object.assign(running.edge.freshness, { catalog: next })
}

/** Counts the requests of `work` that JavaScript did not see. */
async function withoutJavaScript(work: () => Promise<unknown>): Promise<number> {
  const before = running.edge.native.answers
  await work()
  return running.edge.native.answers - before
}

function withoutDate({ status, headers: { date, ...headers }, body }: Awaited<ReturnType<typeof ask>>) {
  expect(Math.abs(Date.now() - Date.parse(date as string))).toBeLessThan(60_000)
  return { status, headers, body: body.toString('latin1') }
}

test('a document is made once for any number of simultaneous and later requests', async () => {
  const headers = { 'x-access-token': issue(), 'accept-encoding': 'gzip' }
  const many = () => Promise.all(Array.from({ length: 50 }, () => ask(CAPABILITIES, headers)))
  expect(await madeBy(many)).toEqual({ documents: 1, parts: BASEMAPS })
  expect(await madeBy(many)).toEqual({ documents: 0, parts: 0 })
  // A token with the same grants gets the same documents.
  const other = { ...headers, 'x-access-token': issue() }
  expect(await madeBy(() => ask(CAPABILITIES, other))).toEqual({ documents: 0, parts: 0 })
  for (const { body } of await many()) expect(String(gunzipSync(body)).match(/<Layer>/g)).toHaveLength(BASEMAPS)
})

test('after a change only the changed part is made, and no client gets the old document', async () => {
  await ask(CAPABILITIES)
  follow(nextCatalog(catalog, { codes: ['map-7'], rows: [basemap('map-7', 'Seven')] }, { codes: [], rows: [] }))
  try {
    let body = ''
    const made = await madeBy(async () => {
      body = String((await ask(CAPABILITIES)).body)
    })
    expect(made).toEqual({ documents: 1, parts: 1 })
    expect(body).toContain('<ows:Title>Seven</ows:Title>')
    expect(body.match(/<Layer>/g)).toHaveLength(BASEMAPS)
  } finally {
    follow(catalog)
  }
})

test('a change of vectors keeps the documents of basemaps', async () => {
  await ask(CAPABILITIES)
  follow(nextCatalog(catalog, { codes: [], rows: [] }, { codes: ['new'], rows: [storedVector('new')] }))
  expect(await madeBy(() => ask(CAPABILITIES))).toEqual({ documents: 0, parts: 0 })
  follow(catalog)
})

test.each(LISTS)('%s is equal plain, compressed and by HEAD, and returns 304 for a copy', async (address) => {
  const plain = await ask(address)
  const headers = { 'x-access-token': running.token, 'accept-encoding': 'gzip' }
  const packed = await ask(address, headers)
  expect([plain.status, packed.status, packed.headers['content-encoding']]).toEqual([200, 200, 'gzip'])
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true)
  expect(packed.headers.etag).toBe(plain.headers.etag)
  expect([plain.headers['cache-control'], plain.headers.vary]).toEqual(['no-store', 'Accept-Encoding'])
  const head = await ask(address, undefined, 'HEAD')
  expect([head.headers['content-length'], head.body.length]).toEqual([String(plain.body.length), 0])
  const known = await ask(address, { ...headers, 'if-none-match': packed.headers.etag as string })
  expect([known.status, known.headers.etag, known.headers['content-encoding']]).toEqual([
    304,
    plain.headers.etag,
    undefined,
  ])
})

const REPEATED = [
  ...LISTS,
  '/wmts/1.0.0/WMTSCapabilities.xml',
  '/tiles/map-1/tilejson.json',
  '/api/v1/catalog/vectors/roads-1',
]

test.each(REPEATED)('%s is answered again without JavaScript, with the same bytes and fields', async (address) => {
  const token = issue()
  for (const [more, method] of [
    [{}, 'GET'],
    [{ 'accept-encoding': 'gzip' }, 'GET'],
    [{ 'if-none-match': '"another"', 'user-agent': 'QGIS' }, 'GET'],
    [{}, 'HEAD'],
  ] as const) {
    const again = () => ask(address, { 'x-access-token': token, ...more }, method)
    const first = await again()
    let second = first
    // On a busy processor, the document or its token is published only after the next request.
    await expect.poll(() => withoutJavaScript(async () => (second = await again()))).toBe(1)
    expect(withoutDate(second)).toEqual(withoutDate(first))
    expect(second.status).toBe(200)
  }
  const byQuery = `${address}${address.includes('?') ? '&' : '?'}token=${token}`
  await expect.poll(() => withoutJavaScript(() => ask(byQuery, {}))).toBe(1)
})

test('a document that is sent without JavaScript is bound to its token, its catalog and its request', async () => {
  const token = issue()
  const headers = { 'x-access-token': token }
  const again = (more: http.OutgoingHttpHeaders = {}) => ask(CAPABILITIES, { ...headers, ...more })
  const publish = async () => {
    await expect.poll(() => withoutJavaScript(again)).toBe(1)
  }
  await publish()
  expect(await withoutJavaScript(() => again({ 'x-access-token': issue() }))).toBe(0)
  expect(await withoutJavaScript(() => again({ 'x-other': '1' }))).toBe(0)
  const etag = (await again()).headers.etag as string
  expect((await again({ 'if-none-match': etag })).status).toBe(304)
  expect((await again({ 'if-none-match': etag })).status).toBe(304)
  follow(nextCatalog(catalog, { codes: ['map-7'], rows: [basemap('map-7', 'Seven')] }, { codes: [], rows: [] }))
  expect(String((await again()).body)).toContain('<ows:Title>Seven</ows:Title>')
  follow(catalog)
  expect(String((await again()).body)).not.toContain('<ows:Title>Seven</ows:Title>')
  await publish()
  const digest = tokenDigest(token).toString('hex')
  running.storedTokens.set(digest, { ...READER, id: token, basemaps: new Set(['map-1']) })
  running.edge.tokens.invalidate(digest)
  expect(String((await again()).body).match(/<Layer>/g)).toHaveLength(1)
  await publish()
  running.storedTokens.delete(digest)
  running.edge.tokens.invalidate(digest)
  expect((await again()).status).toBe(401)
})

test('documents that are sent without JavaScript are counted for their token and in the metrics', async () => {
  const token = issue()
  const { counters } = running.edge
  const again = () => ask('/api/v1/catalog/basemaps', { 'x-access-token': token })
  for (let i = 0; i < 3; i++) await again()
  counters.beforeReading()
  running.edge.native.takeUsage()
  const { requests, bytesSent, tokenHits } = counters
  const { success } = counters.answers.catalog
  const { body } = await again()
  counters.beforeReading()
  expect(counters.requests - requests).toBe(1)
  expect(counters.tokenHits - tokenHits).toBe(1)
  expect(counters.bytesSent - bytesSent).toBe(body.length)
  expect(counters.answers.catalog.success - success).toBe(1)
  const taken = running.edge.native.takeUsage()
  const place = taken?.names.split('\0').indexOf(`token:${token}`) ?? -1
  expect([...(taken?.amounts.subarray(5 * place, 5 * place + 5) ?? [])]).toEqual([1, 0, 0, 0, body.length])
})

test('a token in the query is in every address of its document, and in no other document', async () => {
  const [mine, other] = [issue(), issue()]
  for (const address of [CAPABILITIES, '/ogc/collections', '/tms/1.0.0', '/tiles/map-1/tilejson.json']) {
    const of = async (token: string) =>
      String((await ask(`${address}${address.includes('?') ? '&' : '?'}token=${token}`, {})).body)
    const [first, second] = [await of(mine), await of(other)]
    expect(first).toContain(`token=${mine}`)
    expect(first.replaceAll(mine, other) === second, address).toBe(true)
    expect(first + second + String((await ask(address)).body)).not.toContain(SECRET_PLACE)
    expect(String((await ask(address)).body)).not.toContain('token=')
  }
})

test('tokens of different grants have their own documents', async () => {
  const token = issue({ basemaps: new Set(['map-1', 'map-2']) })
  const body = String((await ask(CAPABILITIES, { 'x-access-token': token })).body)
  expect(body.match(/<ows:Title>map-\d+/g)).toEqual(['<ows:Title>map-1', '<ows:Title>map-2'])
  expect(await madeBy(() => ask(`${CAPABILITIES}&only=map-1`))).toMatchObject({ parts: 0 })
  const refused = await ask(`${CAPABILITIES}&only=map-3`, { 'x-access-token': token })
  expect([refused.status, String(refused.body)]).toEqual([400, expect.stringContaining('ExceptionReport')])
})

test('a token that is disabled while its requests wait for their turn is refused from then on', async () => {
  const token = issue()
  const digest = tokenDigest(token).toString('hex')
  const { tokens, turns } = running.edge
  // Uses up the time of a turn when the look-up ends, so that the requests have to wait for the next turn.
  const found = tokens.lookUp.bind(tokens)
  const spy = vi.spyOn(tokens, 'lookUp').mockImplementation(async (text) => {
    const answer = await found(text)
    turns.later(() => {
      running.storedTokens.delete(digest)
      tokens.invalidate(digest)
    })
    turns.run(() => {})
    return answer
  })
  try {
    expect((await ask('/api/v1/catalog/basemaps/map-1', { 'x-access-token': token })).status).toBe(401)
  } finally {
    spy.mockRestore()
  }
})

test('stalled clients share the bytes of one document, and are cut when they make no progress', async () => {
  const { documents, counters, native } = running.edge
  // On a busy machine, the table may not take the document at the third request.
  await expect.poll(() => withoutJavaScript(() => ask(CAPABILITIES))).toBe(1)
  const before = documents.heldBytes
  const stalledReaders = () => {
    counters.beforeReading()
    return counters.stalledReaders
  }
  const [stalled, answers] = [stalledReaders(), native.answers]
  const readers = Array.from({ length: 150 }, () => {
    const socket = net.connect({ port: Number(new URL(running.url).port), host: '127.0.0.1' })
    socket.pause()
    socket.write(`GET ${CAPABILITIES} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${running.token}\r\n\r\n`)
    return socket
  })
  await expect.poll(() => native.answers - answers).toBeGreaterThanOrEqual(readers.length - 1)
  expect(documents.heldBytes).toBe(before)
  await expect.poll(() => stalledReaders() - stalled).toBe(readers.length)
  for (const reader of readers) {
    const closed = once(reader, 'close')
    reader.on('error', () => {})
    reader.destroy()
    await closed
  }
})

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'

// They wait for 12 to 20 s each.
test.concurrent.each([
  ['empty lines', '', '\r\n'],
  ['empty lines after a request', HEALTH, '\r\n'],
  ['a line end in two parts', HEALTH, '\r', '\n'],
  ['a request head byte by byte', HEALTH, 'G'],
])('a connection that sends only %s ends like an idle one', async (_, first, ...parts) => {
  const socket = net.connect({ port: Number(new URL(running.url).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.resume()
  socket.write(first)
  let sent = 0
  const trickle = setInterval(() => socket.write(parts[sent++ % parts.length] as string), 1_000)
  // Unlike `once` of node:events, accepts the reset that a line gets after the close.
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(trickle)
})

/**
 * An address of each pattern. The patterns of tiles and files have addresses here that do not depend on the catalog.
 */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  '/tiles/*': ['/tiles/map-1/tilejson.json', '/tiles/map-1/v1/tilejson.json', '/tiles/map-1/0/0/0.png'],
  '/geojson/*': ['/geojson/roads-1.geojson'],
  '/shp/*': ['/shp/roads-1.shp'],
  '/vectors/:code/download': ['/vectors/roads-1/download'],
  '/vectors/:file': ['/vectors/roads-1.geojson'],
  '/vectors/:code/tilejson.json': ['/vectors/roads-1/tilejson.json'],
  '/vectors/:code/tiles/*': ['/vectors/roads-1/tiles/0/0/0.mvt'],
  '/archives/*': ['/archives/map-1/v1.pmtiles'],
  '/t/*': ['/t/nobody/geojson/roads-1.geojson'],
  '/wmts': [CAPABILITIES, `${CAPABILITIES}&only=map-1`, '/wmts?SERVICE=WMTS&REQUEST=GetTile'],
  '/wms': ['/wms', '/wms?SERVICE=WMS&REQUEST=GetMap', '/wms?SERVICE=WMS&REQUEST=GetFeatureInfo'],
  '/wmts/*': ['/wmts/1.0.0/WMTSCapabilities.xml'],
  '/tms/*': ['/tms/1.0.0', '/tms/1.0.0/map-1'],
  '/arcgis/*': ['info', 'services', 'services/map-1/MapServer', 'services/map-1/MapServer/tilemap/0/0/0/8/8'].map(
    (rest) => `/arcgis/rest/${rest}`,
  ),
  '/ArcGIS/*': ['/ArcGIS/rest/services?f=json'],
  '/tianditu/*': ['/tianditu/map-1_w/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', '/tianditu/map-1_c/wmts'],
  '/ogc': ['/ogc'],
  '/ogc/*': [
    ...['conformance', 'collections', 'tileMatrixSets', 'tileMatrixSets/WebMercatorQuad'].map((rest) => `/ogc/${rest}`),
    ...['', '/map/tiles', '/map/tiles/WebMercatorQuad'].map((rest) => `/ogc/collections/map-1${rest}`),
  ],
  '/api/v1/catalog/basemaps': ['/api/v1/catalog/basemaps', '/api/v1/catalog/basemaps?q=map&sort=-code'],
  '/api/v1/catalog/basemaps/:code': ['/api/v1/catalog/basemaps/map-1'],
  '/api/v1/catalog/vectors': ['/api/v1/catalog/vectors', '/api/v1/catalog/vectors?limit=1000'],
  '/api/v1/catalog/vectors/:code': ['/api/v1/catalog/vectors/roads-1'],
  '/api/v1/catalog/styles': ['/api/v1/catalog/styles', '/api/v1/catalog/styles?limit=1000'],
  '/api/v1/catalog/styles/:code': ['/api/v1/catalog/styles/map-1'],
  '/ogc/styles': ['/ogc/styles'],
  '/ogc/styles/*': ['/ogc/styles/map-1'],
  '/styles/*': ['/styles/map-1/style.json', '/styles/map-1/sprite.json'],
  '/fonts/*': ['/fonts/Noto%20Sans%20Regular/57344-57599.pbf'],
  '/tiles/:code/style.json': ['/tiles/map-1/style.json'],
  '/vectors/:code/style.json': ['/vectors/roads-1/style.json'],
  '/api/v1/forward-auth': ['/api/v1/forward-auth'],
  '/api/v1/forward-auth/*': ['/api/v1/forward-auth/x'],
  '/health': ['/health'],
  '/ready': ['/ready'],
  '/metrics': ['/metrics'],
}

test('no route of the edge makes a response that grows with the catalog for each request', async () => {
  expect(Object.keys(SAMPLES).sort()).toEqual([...OWN_ROUTES].sort())
  const answer = vi.spyOn(RequestContext.prototype, 'answer')
  const all = async () => {
    for (const address of Object.values(SAMPLES).flat()) await ask(address)
  }
  try {
    await all()
    expect(await madeBy(all)).toEqual({ documents: 0, parts: 0 })
    const large = answer.mock.calls.filter(([, , body]) => body.length > LARGEST_OWN_ANSWER)
    expect(large.map(([status, , body]) => [status, body.length])).toEqual([])
  } finally {
    answer.mockRestore()
  }
})
