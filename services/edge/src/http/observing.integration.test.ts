import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { AccessLog } from '@gateway/core/logging/access-log.js'
import { createLog } from '@gateway/core/logging/log.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { SpanOptions, Tracer } from '@gateway/core/tracing/span.js'
import { NO_TRACER } from '@gateway/core/tracing/tracer.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Durations } from '../metrics/durations.js'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-observing-'))
const TILE = '/tiles/alps/v1/0/0/0.png'
const BODY = randomBytes(5_000)
/** Interval at which the requests of a process are logged. */
const EVERY = 5
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`

let running: RunningEdge
let upstream: http.Server
let received: http.IncomingHttpHeaders = {}
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

interface Line {
  readonly [field: string]: unknown
}
let lines: Line[] = []
const accessLog = new AccessLog(createLog('edge', 'silent'), EVERY)
accessLog.write = (line) => void lines.push({ ...line })

const spans: { name: string; options: SpanOptions; end: unknown[] }[] = []
const tracer: Tracer = {
  ...NO_TRACER,
  on: true,
  start(name, options) {
    const span = { name, options, end: [] as unknown[] }
    spans.push(span)
    return { context: NO_TRACER.start(name, options).context, end: (...end) => void span.end.push(...end) }
  },
}

beforeAll(async () => {
  fs.mkdirSync(path.join(home, 'v1/0/0'), { recursive: true })
  fs.writeFileSync(path.join(home, 'v1/0/0/0.png'), BODY)
  const versions = [storedVersion('v1', { path: path.join(home, 'v1') })]
  const rows = [storedBasemap('alps', versions, { sourcePath: home, defaultVersion: 'v1' })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  upstream = http.createServer((req, res) => {
    received = req.headers
    res.end('{}')
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const controlPlane = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane, accessLog, tracer })
  expect(running.edge.sender.reason).toBe('its self-test passed')
  running.edge.native.follow(catalog)
})
beforeEach(() => {
  lines = []
  spans.length = 0
})
afterAll(async () => {
  agent.destroy()
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  upstream.closeAllConnections()
  upstream.close()
  fs.rmSync(home, { recursive: true, force: true })
})

async function ask(target: string, headers: http.OutgoingHttpHeaders = {}): Promise<number> {
  const req = http.get(`${running.url}${target}`, { agent, headers })
  const [res] = (await once(req, 'response')) as [http.IncomingMessage]
  for await (const _ of res);
  return res.statusCode ?? 0
}

const timed = (durations: Durations) =>
  durations.values('d', {}).find(({ metricName }) => metricName === 'd_count')?.value ?? 0

test('every response counts once, by class and status, even without JavaScript; one in 64 is timed for all', async () => {
  const { counters, native } = running.edge
  const { tile, other, passthrough } = counters.answers
  counters.beforeReading()
  const before = { ...tile, other: other.success, passthrough: passthrough.success, timed: timed(tile.durations) }
  const headers = { 'x-access-token': running.token }
  const etag = await new Promise<string>((resolve) =>
    http.get(running.url + TILE, { agent, headers }, (res) => resolve(res.resume().headers.etag ?? '')),
  )
  for (let i = 1; i < 300; i++) expect(await ask(TILE, headers)).toBe(200)
  for (let i = 0; i < 20; i++) expect(await ask(TILE, { ...headers, 'if-none-match': etag })).toBe(304)
  for (let i = 0; i < 10; i++) expect(await ask(TILE)).toBe(401)
  expect(await ask('/tiles/alps/v1/9/0/0.png', headers)).toBe(404)
  expect([await ask('/health'), await ask('/api/v1/system')]).toEqual([200, 200])
  counters.beforeReading()
  // All requests except the first, and those that are left to JavaScript for the access log.
  expect(native.answers).toBeGreaterThan(200)
  const { success, redirection, clientError, serverError } = tile
  expect([success - before.success, redirection - before.redirection]).toEqual([300, 20])
  expect([clientError - before.clientError, serverError - before.serverError]).toEqual([11, 0])
  expect([other.success - before.other, passthrough.success - before.passthrough]).toEqual([1, 1])
  const counted = timed(tile.durations) - before.timed
  expect(counted).toBeGreaterThan(331 - 3 * 64)
  expect(counted).toBeLessThan(331 + 3 * 64)
})

test('the access log has one line for every few requests, with only the prefix of the token', async () => {
  const query = `v=3&token=${running.token}&%74oken=${running.token}`
  const headers = { 'user-agent': 'a map', referer: `http://page/x?token=${running.token}`, 'x-request-id': 'r1' }
  for (let i = 0; i < 10 * EVERY; i++) await ask(`${TILE}?${query}`, { ...headers, traceparent: TRACEPARENT })
  expect(lines.length).toBe(10)
  expect(JSON.stringify(lines)).not.toContain(running.token)
  expect(lines[0]).toMatchObject({
    kind: 'tile',
    method: 'GET',
    path: TILE,
    query: 'v=3',
    status: 200,
    bytes: BODY.length,
    token: running.token.slice(0, 12),
    client: '127.0.0.1',
    userAgent: 'a map',
    referer: 'http://page/x',
    requestId: 'r1',
    traceId: TRACE,
  })
})

test('a proxied request is in the trace of its caller, or in a new one', async () => {
  await ask('/api/v1/system', { traceparent: TRACEPARENT, tracestate: 'a=1', 'x-request-id': 'r2' })
  expect(received).toMatchObject({ traceparent: TRACEPARENT, tracestate: 'a=1', 'x-request-id': 'r2' })
  await ask('/api/v1/system', { traceparent: 'nonsense', tracestate: 'a=1' })
  expect(received.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  expect(received.tracestate).toBeUndefined()
  expect(spans.map(({ name, end }) => [name, end])).toEqual([
    ['GET passthrough', [{ 'http.response.status_code': 200 }, null]],
    ['GET passthrough', [{ 'http.response.status_code': 200 }, null]],
  ])
})

test('a document is traced, and a tile from memory is not', async () => {
  const headers = { 'x-access-token': running.token, traceparent: TRACEPARENT }
  await ask(TILE, headers)
  expect(spans).toEqual([])
  await ask('/tiles/alps/tilejson.json', headers)
  expect(spans.map(({ options }) => options.parent?.traceId)).toEqual([TRACE])
})
