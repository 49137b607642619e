import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AdminBasemap, Bounds } from '@gateway/contracts/basemap.js'
import type { Scan, TriedScan } from '@gateway/contracts/scan-source.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { type StorageDoor, startStorageDoor, type Trouble } from '@gateway/core/object-storage/testing/storage-door.js'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { POINTS_FGB } from '@gateway/vectors/formats/testing/flatgeobufs.js'
import { layer, makeGeopackage } from '@gateway/vectors/formats/testing/geopackages.js'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startTestApp, type TestApp } from '../../../testing/test-app.js'
import { makeTree, PIXEL, POINT, type Tree } from '../testing/trees.js'

let swift: TestSwift
let door: StorageDoor
let app: TestApp
let tree: Tree
let dataDir: string
const BOUNDS: Bounds = [-180, -85, 180, 85]
const ABOUT = {
  name: 'The World',
  format: 'png' as const,
  encoding: 'identity' as const,
  bounds: BOUNDS,
  metadata: { name: 'The World' },
}

beforeAll(async () => {
  swift = await startSwift()
  door = await startStorageDoor(swift.port, swift)
  for (const bucket of ['maps', 'shapes']) await swift.makeBucket(bucket)
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-remote-'))
  app = await startTestApp(process.env.TEST_POSTGRES_URL, {
    ...swift.environment,
    S3_ENDPOINT: door.url,
    DATA_DIR: dataDir,
  })
  tree = makeTree()
})

afterAll(async () => {
  await app.close()
  await door.close()
  await swift.stop()
  tree.remove()
  rmSync(dataDir, { recursive: true })
})

const get = async <T>(path: string): Promise<T> => (await app.admin({ url: `/api/v1/admin${path}` })).json()
const post = (path: string, payload: object = {}) => app.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })

async function save(code: string, kind: 'basemap' | 'vector', path: string): Promise<void> {
  expect((await post('/scan-sources', { code, kind, path })).statusCode).toBe(200)
}

async function scan(code: string): Promise<Scan> {
  const answer = await post(`/scan-sources/${code}/run`)
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

async function putPmtiles(object: string, side = 1): Promise<void> {
  const tiles = Array.from({ length: side }, (_, y) => ({ z: 4, x: 0, y, data: PIXEL }))
  await writePmtiles(tree.at('archive.pmtiles'), tiles, ABOUT)
  await swift.put(object, tree.at('archive.pmtiles'))
}

test('maps in a bucket are found, recognized, updated, missed and found again like those on a disk', async () => {
  await putPmtiles('maps/all/world/2024.pmtiles')
  await putPmtiles('maps/all/city.pmtiles')
  await writeMbtiles(tree.at('old.mbtiles'), [{ z: 0, x: 0, y: 0, data: PIXEL }], ABOUT)
  await swift.put('maps/all/old.mbtiles', tree.at('old.mbtiles'))
  await swift.put('maps/all/world/2025/tilejson.json', Buffer.from('{"name":"Tiles","format":"png"}'))
  for (const tile of ['3/1/2', '3/2/2', '4/5/6']) await swift.put(`maps/all/world/2025/${tile}.png`, PIXEL)
  await swift.put('maps/all/.hidden/x.pmtiles', PIXEL)
  await swift.put('maps/all/broken.pmtiles', PIXEL)
  await save('bucket', 'basemap', 's3://maps/all/')
  const first = await scan('bucket')
  expect(first).toMatchObject({ status: 'succeeded', added: 4, updated: 0, missing: 0 })
  expect(first.message).toMatch(/^"broken.pmtiles" cannot be served/)
  const { items } = await get<{ items: AdminBasemap[] }>('/basemaps')
  expect(items).toMatchObject([
    { code: 'city', name: 'The World', versions: [{ version: 'default', path: 's3://maps/all/city.pmtiles' }] },
    { code: 'old', versions: [{ storage: 'mbtiles', path: 's3://maps/all/old.mbtiles', min_zoom: 0, format: 'png' }] },
    {
      code: 'world',
      default_version: '2025',
      versions: [
        { version: '2024', storage: 'pmtiles', min_zoom: 4, max_zoom: 4, path: 's3://maps/all/world/2024.pmtiles' },
        { version: '2025', storage: 'xyz', min_zoom: 3, max_zoom: 4, path: 's3://maps/all/world/2025' },
      ],
    },
  ])
  expect(await scan('bucket')).toMatchObject({ added: 0, updated: 0, missing: 0 })

  await putPmtiles('maps/all/city.pmtiles', 2)
  await swift.put('maps/all/world/2025/4/5/6.png', POINT_PNG)
  await swift.remove('maps/all/world/2024.pmtiles')
  const tried = (
    await post('/scan-sources/try', { code: 'bucket', kind: 'basemap', path: 's3://maps/all' })
  ).json<TriedScan>()
  expect(tried).toMatchObject({ found: ['city/default', 'world/2025'], lost: ['world/2024'], problem: null })
  expect(await scan('bucket')).toMatchObject({ added: 0, updated: 2, missing: 1 })
  expect((await get<AdminBasemap>('/basemaps/world')).versions).toMatchObject([
    { available: false },
    { available: true },
  ])
  await putPmtiles('maps/all/world/2024.pmtiles')
  expect(await scan('bucket')).toMatchObject({ updated: 1, missing: 0 })
  expect((await post('/health/check')).json()).toMatchObject({ versions_checked: 4, versions_missing: 0 })
  await swift.remove('maps/all/city.pmtiles')
  for (const tile of ['3/1/2', '3/2/2', '4/5/6']) await swift.remove(`maps/all/world/2025/${tile}.png`)
  expect((await post('/health/check')).json()).toMatchObject({ versions_checked: 4, versions_missing: 2 })
  const { versions } = await get<AdminBasemap>('/basemaps/world')
  expect(versions).toMatchObject([{ available: true }, { version: '2025', available: false }])
  expect(readdirSync(join(dataDir, 'scans'))).toEqual([])
})

/** A tile that differs from PIXEL; a PNG may contain any bytes after its end. */
const POINT_PNG = Buffer.concat([PIXEL, Buffer.from('another')])

test('vectors in a bucket are found with their facts, and read again only if they have changed', async () => {
  await swift.put('shapes/a/roads ü.geojson', Buffer.from(POINT))
  await swift.put('shapes/points.fgb', POINTS_FGB)
  makeGeopackage(tree.at('roads.gpkg'), layer('roads'))
  await swift.put('shapes/roads.gpkg', tree.at('roads.gpkg'))
  await swift.put('shapes/lake.shp', Buffer.alloc(100))
  await swift.put('shapes/lake.cpg', Buffer.from('UTF-8'))
  await swift.put('shapes/other.json', Buffer.from('{}'))
  await save('shapes', 'vector', 's3://shapes')
  const first = await scan('shapes')
  expect(first).toMatchObject({ status: 'succeeded', added: 4 })
  expect(first.message).toBe('"lake.shp" lacks its .shx and .dbf')
  const vectors = (await get<{ items: AdminVector[] }>('/vectors')).items
  expect(
    vectors.map(({ relative_path, path, feature_count, size }) => [relative_path, path, feature_count, size]),
  ).toEqual([
    ['a/roads ü.geojson', 's3://shapes/a/roads ü.geojson', 1, POINT.length],
    ['lake.shp', 's3://shapes/lake.shp', null, 105],
    ['points.fgb', 's3://shapes/points.fgb', 3, POINTS_FGB.length],
    ['roads.gpkg', 's3://shapes/roads.gpkg', 2, expect.any(Number)],
  ])
  expect(await scan('shapes')).toMatchObject({ added: 0, updated: 0, missing: 0 })
  await swift.put('shapes/lake.cpg', Buffer.from('GBK'))
  await swift.remove('shapes/points.fgb')
  expect(await scan('shapes')).toMatchObject({ added: 0, updated: 1, missing: 1 })
})

test('a refused scan or a missing bucket changes nothing, and reports the reason without a secret', async () => {
  const before = await get('/basemaps')
  await save('bucket', 'basemap', 's3://nobucket')
  const storage = () => get('/scan-sources/bucket/storage')
  expect(await storage()).toMatchObject({ endpoint: door.url, state: 'missing' })
  const missing = await scan('bucket')
  expect(missing).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/^s3:\/\/nobucket: .*NoSuchBucket/),
  })
  await save('bucket', 'basemap', 's3://maps/all')
  expect(await storage()).toMatchObject({ state: 'answers', message: '' })
  const other = await startTestApp(process.env.TEST_POSTGRES_URL, {
    ...swift.environment,
    AWS_SECRET_ACCESS_KEY: 'a-wrong-secret',
    DATA_DIR: dataDir,
  })
  const payload = { code: 'x', kind: 'basemap', path: 's3://maps/all' }
  await other.admin({ method: 'POST', url: '/api/v1/admin/scan-sources', payload })
  const refused = (await other.admin({ method: 'POST', url: '/api/v1/admin/scan-sources/x/run' })).json<Scan>()
  const state = (await other.admin({ url: '/api/v1/admin/scan-sources/x/storage' })).json()
  expect(state).toMatchObject({ state: 'refuses', message: expect.stringContaining('SignatureDoesNotMatch') })
  await other.close()
  expect(refused).toMatchObject({ status: 'failed', message: expect.stringContaining('SignatureDoesNotMatch') })
  expect(refused.message).not.toContain('a-wrong-secret')
  expect(await get('/basemaps')).toEqual(before)
})

test('without credentials the storage, a trial and a scan say that none are set, and where to set them', async () => {
  // Amazon's library looks in the process's own environment and home, too.
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(dataDir, 'none'))
  vi.stubEnv('AWS_CONFIG_FILE', join(dataDir, 'none'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const keyless = await startTestApp(process.env.TEST_POSTGRES_URL, {
    ...swift.environment,
    AWS_ACCESS_KEY_ID: '',
    AWS_SECRET_ACCESS_KEY: '',
    DATA_DIR: dataDir,
  })
  onTestFinished(() => keyless.close())
  const sources = '/api/v1/admin/scan-sources'
  const body = { code: 'keyless', kind: 'basemap', path: 's3://maps/all' }
  await keyless.admin({ method: 'POST', url: sources, payload: body })
  const where = expect.stringMatching(
    /no credentials .* AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in config\/service\.env/,
  )
  const state = (await keyless.admin({ url: `${sources}/keyless/storage` })).json()
  expect(state).toMatchObject({ state: 'no_credentials', message: where, message_code: 'storage_no_credentials' })
  const payload = { kind: 'basemap', path: 's3://maps/all' }
  const tried = (await keyless.admin({ method: 'POST', url: `${sources}/try`, payload })).json()
  expect(tried).toMatchObject({ problem: where, problem_code: 'scan_no_credentials' })
  const scanned = (await keyless.admin({ method: 'POST', url: `${sources}/keyless/run` })).json()
  expect(scanned).toMatchObject({ status: 'failed', message: where })
})

const SAYS: readonly (readonly [Trouble, RegExp])[] = [
  ['503', /^it returns 503$/],
  ['429', /^it returns 429$/],
  ['cut', /other side closed|ECONNRESET/],
  ['keys', /^the server returns 403: SignatureDoesNotMatch/],
  ['clock', /^the server returns 403: RequestTimeTooSkewed/],
]

test('a scan of failing storage fails with its message and changes nothing; one of slow storage succeeds', async () => {
  await putPmtiles('maps/steady/town.pmtiles')
  await save('steady', 'basemap', 's3://maps/steady')
  expect(await scan('steady')).toMatchObject({ added: 1 })
  const before = await get('/basemaps')
  for (const [trouble, said] of SAYS) {
    door.troubleOf = () => trouble
    const { status, message } = await scan('steady')
    const root = 's3://maps/steady: '
    expect([trouble, status, message.slice(0, root.length)]).toEqual([trouble, 'failed', root])
    expect(message.slice(root.length)).toMatch(said)
  }
  expect(await get('/basemaps')).toEqual(before)
  door.troubleOf = () => 'slow'
  expect(await scan('steady')).toMatchObject({ status: 'succeeded', updated: 0, missing: 0 })
  door.troubleOf = () => 'none'
})

test('an archive replaced between two ranges of a scan is found in its new state', async () => {
  const put = async (zoom: number) => {
    // The directory lies beyond the first read.
    const metadata = { name: 'Moving', blob: randomBytes(40_000).toString('hex') }
    const tile = { z: zoom, x: 0, y: 0, data: PIXEL }
    await writePmtiles(tree.at('archive.pmtiles'), [tile], { ...ABOUT, metadata })
    await swift.put('maps/moving/moving.pmtiles', tree.at('archive.pmtiles'))
  }
  await put(4)
  await save('moving', 'basemap', 's3://maps/moving')
  let ranges = 0
  door.before = async (line) => {
    if (line.startsWith('GET /maps/moving/') && ++ranges === 2) await put(5)
  }
  expect(await scan('moving')).toMatchObject({ status: 'succeeded', added: 1 })
  door.before = async () => {}
  expect(ranges).toBeGreaterThan(2)
  expect((await get<AdminBasemap>('/basemaps/moving')).versions).toMatchObject([{ min_zoom: 5, max_zoom: 5 }])
})

test.each([
  's3://key:secret@maps/x',
  'https://user:secret@host.example/x',
  'https://host.example/x?X-Amz-Signature=secret',
  's3://x/y',
])('%s is not a path of a source, and does not appear in the message', async (path) => {
  for (const url of ['/scan-sources', '/scan-sources/try']) {
    const answer = await post(url, { code: 'bad', kind: 'basemap', path })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).not.toContain('secret')
  }
})

test('an archive and a directory with a tilejson.json behind HTTP become a map each, and a GeoJSON file a vector', async () => {
  await writePmtiles(tree.at('web.pmtiles'), [{ z: 4, x: 0, y: 0, data: PIXEL }], ABOUT)
  const tilejson = { name: 'Tiles', minzoom: 1, maxzoom: 3, tiles: ['https://elsewhere.example/{z}/{x}/{y}.png'] }
  tree.put('sea chart/tilejson.json', JSON.stringify(tilejson))
  tree.put('sea chart/1/0/0.png', PIXEL)
  tree.put('a.geojson', POINT)
  const server = createServer((request, response) => {
    const file = tree.at(decodeURIComponent(request.url ?? ''))
    if (!existsSync(file)) return void response.writeHead(404).end()
    const bytes = readFileSync(file)
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    const headers = { etag: '"1"', 'last-modified': new Date(0).toUTCString() }
    if (from === undefined)
      return void response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes)
    const part = bytes.subarray(Number(from), Number(to) + 1)
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`
    response.writeHead(206, { ...headers, 'content-range': range, 'content-length': part.length }).end(part)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await save('web', 'basemap', `${base}/web.pmtiles`)
    await save('sea', 'basemap', `${base}/sea chart/`)
    await save('point', 'vector', `${base}/a.geojson`)
    for (const code of ['web', 'sea', 'point']) expect(await scan(code)).toMatchObject({ added: 1, message: '' })
    expect((await get<AdminBasemap>('/basemaps/web')).versions).toMatchObject([{ path: `${base}/web.pmtiles` }])
    expect(await get<AdminBasemap>(`/basemaps/${encodeURIComponent('sea chart')}`)).toMatchObject({
      versions: [{ path: `${base}/sea%20chart`, storage: 'xyz', format: 'png', min_zoom: 1, max_zoom: 3 }],
    })
    rmSync(tree.at('web.pmtiles'))
    expect(await scan('web')).toMatchObject({ status: 'failed', message: expect.stringContaining('is missing') })
  } finally {
    await new Promise((resolve) => server.close(resolve).closeAllConnections())
  }
})
