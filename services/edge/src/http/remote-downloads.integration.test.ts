import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedVector } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromBuffer } from 'yauzl'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge, takeUsage } from '../testing/running-edge.js'

const POINTS = Buffer.concat([Buffer.from('{"type":"Point"}'), randomBytes(3_000_000)])
let swift: TestSwift
let dataDir: string
const running: RunningEdge[] = []

beforeAll(async () => {
  swift = await startSwift()
  await swift.makeBucket('shapes')
  await swift.put('shapes/a/points ü.geojson', POINTS)
  for (const [name, text] of [
    ['lake.shp', 'shape'],
    ['lake.dbf', 'table'],
    ['lake.shx', ''],
    ['lakes.shp', 'another'],
  ])
    await swift.put(`shapes/a/${name}`, Buffer.from(text as string))
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'remote-downloads-'))
})

afterAll(async () => {
  for (const { server, edge } of running) {
    await server.drain(1)
    edge.tiles.closeAll()
    await edge.zips.close()
  }
  await swift.stop()
  fs.rmSync(dataDir, { recursive: true })
})

async function start(env: Record<string, string> = {}): Promise<RunningEdge> {
  const of = (code: string, file: string, more: Parameters<typeof storedVector>[1] = {}) =>
    storedVector(code, { sourcePath: 's3://shapes', path: `s3://shapes/a/${file}`, fileName: file, ...more })
  const rows = [
    of('points', 'points ü.geojson'),
    of('gone', 'gone.geojson'),
    of('lake', 'lake.shp', { kind: 'shapefile', setEncoding: 'GBK' }),
  ]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [] }, { codes: null, rows })
  const more = { controlPlane: 'http://[::1]:1', env: { ...swift.environment, ...env } }
  const edge = await runEdge({ port: await freePort(), catalog, dataDir, ...more })
  running.push(edge)
  return edge
}

async function ask(edge: RunningEdge, code: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(`${edge.url}/vectors/${code}/download`, {
    method,
    headers: { authorization: `Bearer ${edge.token}`, ...headers },
  })
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}

function entriesOf(zip: Buffer): Promise<string[]> {
  return new Promise((resolve, reject) =>
    fromBuffer(zip, (error, archive) => {
      if (error) return reject(error)
      const names: string[] = []
      archive.on('entry', ({ fileName, uncompressedSize }) => names.push(`${fileName} ${uncompressedSize}`))
      archive.on('end', () => resolve(names)).on('error', reject)
    }),
  )
}

test('a file in a bucket is downloaded like one on a disk: whole, in ranges, by its tag, and by HEAD', async () => {
  const edge = await start()
  const whole = await ask(edge, 'points')
  expect([whole.status, whole.body.equals(POINTS)]).toEqual([200, true])
  expect(whole.headers.get('content-disposition')).toContain("filename*=UTF-8''points%20%C3%BC.geojson")
  const etag = whole.headers.get('etag') as string
  expect((await ask(edge, 'points', { 'if-none-match': etag })).status).toBe(304)
  const range = await ask(edge, 'points', { range: 'bytes=2000000-2999999', 'if-range': etag })
  expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 2000000-2999999/${POINTS.length}`])
  expect(range.body.equals(POINTS.subarray(2_000_000, 3_000_000))).toBe(true)
  expect((await ask(edge, 'points', { range: `bytes=${POINTS.length}-` })).status).toBe(416)
  const head = await ask(edge, 'points', {}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
    200,
    String(POINTS.length),
    etag,
  ])
  expect((await ask(edge, 'gone')).status).toBe(404)
  const used = takeUsage(edge).map((row) => JSON.parse(row))
  const points = used.find(({ kind, id }) => kind === 'vector' && id === 'points')
  expect(points).toMatchObject({ requests: 5, bytes: expect.toSatisfy((n) => n > POINTS.length + 1_000_000) })
  expect(used.find(({ kind }) => kind === 'token')).toMatchObject({ requests: 6 })
})

test('a shapefile in a bucket is one zip, which is built once, and again after a part of it has changed', async () => {
  const edge = await start()
  const first = await ask(edge, 'lake')
  expect(first.status).toBe(200)
  expect(await entriesOf(first.body)).toEqual(['lake.cpg 3', 'lake.dbf 5', 'lake.shp 5', 'lake.shx 0'])
  const again = await ask(edge, 'lake')
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
  expect(fs.readdirSync(`${dataDir}/zips`)).toHaveLength(1)
  await swift.put('shapes/a/lake.dbf', Buffer.from('another table'))
  const changed = await ask(edge, 'lake')
  expect(await entriesOf(changed.body)).toContain('lake.dbf 13')
  expect(changed.headers.get('etag')).not.toBe(first.headers.get('etag'))
})

test('both return 503 with a time to retry if the storage refuses', async () => {
  const edge = await start({ AWS_SECRET_ACCESS_KEY: 'a-wrong-secret' })
  for (const code of ['points', 'lake']) {
    const { status, headers, body } = await ask(edge, code)
    expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    expect(JSON.parse(body.toString())).toEqual({ error: expect.any(String) })
  }
})
