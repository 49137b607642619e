import { once } from 'node:events'
import fs from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

const picture = (size: number) =>
  sharp({ create: { width: size, height: size, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()

let home: string
let running: RunningEdge
let tile: Buffer
let url: string
const asked: { readonly path: string; readonly key: string | undefined }[] = []
/** answers by the first part of the path */
let answers: Readonly<Record<string, (res: ServerResponse, req: IncomingMessage) => void>>

const service = createServer((req, res) => {
  asked.push({ path: req.url ?? '', key: req.headers['x-key'] as string | undefined })
  const answer = answers[(req.url ?? '').split('/')[1] ?? '']
  if (answer === undefined) res.writeHead(404).end()
  else answer(res, req)
})

function version(name: string) {
  const levels = Array.from({ length: 8 }, (_, z) => ({ id: String(z), column: 0, row: 0 }))
  const request = { kind: 'tiles', template: `${url}/${name}/{z}/{x}/{y}`, subdomains: [], levels } as const
  const upstream = {
    source: name,
    request,
    ttlSeconds: name === 'brief' ? 8 : 600,
    staleDays: 1,
    maxConcurrent: 8,
    timeoutSeconds: 1,
    metaTiles: 4,
  }
  const of = {
    storage: 'upstream',
    path: `${url}/${name}`,
    format: 'png',
    extension: 'png',
    tileSize: 256,
    minZoom: 1,
    maxZoom: 5,
    upstream,
  } as const
  return storedBasemap(name, [storedVersion('live', of)], { sourcePath: url, sourceCode: name, defaultVersion: 'live' })
}

beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'upstream-tiles-')))
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  tile = await picture(256)
  const other = await picture(300)
  answers = {
    good: (res) => res.writeHead(200, { etag: '"e1"' }).end(tile),
    brief: (res) => res.end(tile),
    slow: (res) => void setTimeout(() => res.end(tile), 300),
    html: (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in, please</html>'),
    cut: (res) => res.writeHead(200).end(tile.subarray(0, tile.length - 30)),
    size: (res) => res.end(other),
    twice: (res) => res.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(tile))),
    breaks: (res) => void res.writeHead(200, { 'content-length': 999 }).write('\x89PNG', () => res.destroy()),
    echo: (res, req) =>
      res.writeHead(200).end(`<html>${req.url} ${req.headers['x-key']} ${'.'.repeat(180)} a-secret-header</html>`),
    later: (res) => res.writeHead(503, { 'retry-after': new Date(Date.now() + 40_000).toUTCString() }).end(),
    busy: (res) => res.writeHead(429, { 'retry-after': '17' }).end(),
    away: (res) => res.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end(),
    hangs: () => {},
    broken: (res) => res.writeHead(500).end('out of order'),
  }
  const rows = [...Object.keys(answers), 'absent'].map(version)
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  const secrets = { headers: { 'x-key': 'a-secret-header' }, query: 'tk=a-secret-query' }
  const store = { query: async <T>() => secrets as T }
  const options = { dataDir: path.join(home, 'data'), controlPlane: 'http://[::1]:1', tileMemoryBytes: 1_048_576 }
  running = await runEdge({ port: await freePort(), catalog, ...options, services: { store } })
})

afterAll(async () => {
  await running.server.drain(1)
  running.edge.tiles.closeAll()
  service.closeAllConnections()
  service.close()
  fs.rmSync(home, { recursive: true, force: true })
})

async function ask(code: string, place = '3/1/2') {
  const answer = await fetch(`${running.url}/tiles/${code}/live/${place}.png`, {
    headers: { authorization: `Bearer ${running.token}` },
  })
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}

function coldTiles(): number {
  running.edge.counters.beforeReading()
  return running.edge.counters.nativeColdTiles
}

const requestsFor = (code: string) => asked.filter((one) => one.path.startsWith(`/${code}/`))

test('a tile of a service is fetched with the secrets of its source, kept, and says how long it is current', async () => {
  const first = await ask('good')
  expect([first.status, first.body.equals(tile)]).toEqual([200, true])
  const seconds = Number(/^public, max-age=(\d+)$/.exec(first.headers.get('cache-control') ?? '')?.[1])
  expect(seconds).toBeGreaterThan(500)
  expect(requestsFor('good')).toEqual([{ path: '/good/3/1/2?tk=a-secret-query', key: 'a-secret-header' }])
  const etag = first.headers.get('etag')
  expect(etag).toMatch(/^"/)
  for (let again = 0; again < 5; again++) expect((await ask('good')).headers.get('etag')).toBe(etag)
  expect(requestsFor('good')).toHaveLength(1)
  expect(JSON.stringify([...first.headers])).not.toContain('a-secret')
})

test('kept tiles are sent without JavaScript, with the same headers, until shortly before they are old', async () => {
  const places = Array.from({ length: 16 }, (_, i) => `4/${i % 4}/${4 + Math.floor(i / 4)}`)
  const known = ({ status, headers, body }: Awaited<ReturnType<typeof ask>>) => {
    const { date: _, ...others } = Object.fromEntries(headers)
    const age = Number(/max-age=(\d+)/.exec(others['cache-control'] ?? '')?.[1])
    expect(age).toBeGreaterThan(500)
    return { status, ...others, 'cache-control': others['cache-control']?.replace(/\d+/, 'N'), body: body.length }
  }
  const first = []
  for (const place of places) first.push(known(await ask('good', place)))
  const before = coldTiles()
  for (let again = 0; again < 2; again++)
    for (const [i, place] of places.entries()) expect(known(await ask('good', place))).toEqual(first[i])
  expect(coldTiles() - before).toBeGreaterThan(places.length / 2)
  expect(requestsFor('good').filter(({ path }) => path.startsWith('/good/4/'))).toHaveLength(places.length)
  // JavaScript sends tiles that are current for less than ten seconds, and fetches them when they are old.
  for (let again = 0; again < 3; again++) expect((await ask('brief')).status).toBe(200)
  const cold = coldTiles()
  expect((await ask('brief')).headers.get('cache-control')).toMatch(/^public, max-age=[0-8]$/)
  expect(coldTiles()).toBe(cold)
})

test('a thousand requests for one tile of a slow service are one request to it', async () => {
  const all = await Promise.all(Array.from({ length: 1_000 }, () => ask('slow')))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  expect(requestsFor('slow')).toHaveLength(1)
})

test('a tile that the service does not have is missing, and not asked for again', async () => {
  expect([(await ask('absent')).status, (await ask('absent')).status]).toEqual([404, 404])
  expect(requestsFor('absent')).toHaveLength(1)
})

test.each([
  ['html', 'Sign in, please'],
  ['cut', 'cut off'],
  ['size', '300 x 300'],
  ['breaks', 'breaks off'],
  ['echo', '/echo/3/1/2?tk=[redacted] [redacted] ...'],
  ['busy', '429'],
  ['away', 'refused'],
  ['broken', 'out of order'],
])('a wrong answer (%s) is a 502 that is not cached, and the state has the reason', async (code, words) => {
  const { status, headers, body } = await ask(code)
  expect([status, headers.get('cache-control')]).toEqual([502, 'no-store'])
  expect(Number(headers.get('retry-after'))).toBe(code === 'busy' ? 17 : 5)
  expect(running.edge.tiles.upstream?.states.get(code)).toMatchObject({
    failures: 1,
    message: expect.stringContaining(words),
  })
  const { error } = JSON.parse(body.toString())
  expect(error).toMatch(/answers with something else \(it (returns|redirects)|breaks off/)
  expect(error).not.toMatch(/a-secret|in, please|out of order/)
  expect(running.edge.tiles.upstream?.states.get(code)?.message).not.toContain('a-sec')
})

test('a zoom that the version does not have is missing, and not asked for', async () => {
  const before = requestsFor('good').length
  expect([(await ask('good', '0/0/0')).status, (await ask('good', '6/1/2')).status]).toEqual([404, 404])
  expect(requestsFor('good')).toHaveLength(before)
})

test('a service that names the time of the next request is not asked before', async () => {
  const first = await ask('later')
  expect(first.status).toBe(502)
  expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(20)
  const second = await ask('later', '3/2/2')
  expect([second.status, requestsFor('later').length]).toEqual([502, 1])
  expect(JSON.parse(second.body.toString()).error).toContain('503')
})

test('an answer that is encoded twice is unpacked', async () => {
  expect((await ask('twice')).body.equals(tile)).toBe(true)
})

test('a service that hangs is a 504, holds up no other basemap, and is not asked after five failures', async () => {
  const hanging = Promise.all(Array.from({ length: 12 }, (_, i) => ask('hangs', `4/${i}/0`)))
  expect((await ask('good', '2/1/1')).status).toBe(200)
  const statuses = (await hanging).map(({ status }) => status)
  expect(statuses.every((status) => status === 504 || status === 503)).toBe(true)
  expect(running.edge.tiles.upstream?.states.get('hangs')?.state).toBe('open')
  const before = requestsFor('hangs').length
  const refused = await ask('hangs', '4/15/0')
  expect([refused.status, Number(refused.headers.get('retry-after')) > 5]).toEqual([504, true])
  expect(JSON.parse(refused.body.toString()).error).toContain('no answer within 1 s')
  expect(requestsFor('hangs')).toHaveLength(before)
})
