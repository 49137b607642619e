import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { PushRecord } from '@gateway/contracts/push.js'
import type { ListEntry, ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import { type StorageDoor, startStorageDoor, type Trouble } from '@gateway/core/object-storage/testing/storage-door.js'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { readBasemaps, upsertBasemap, upsertVersion } from '@gateway/store/basemaps.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { upsertVectors } from '@gateway/store/vectors.js'
import { PMTiles } from 'pmtiles'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportLoop } from '../exports/loop.js'
import { deliveries } from '../features.js'
import { fillCatalog } from '../testing/catalog.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'

const ADMIN = '/api/v1/admin'
let swift: TestSwift
let door: StorageDoor
let home: string
let gateway: TestApp
let store: ObjectStore
let loops: Promise<unknown>
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'bucket-'))
  swift = await startSwift()
  door = await startStorageDoor(swift.port, swift)
  await swift.makeBucket('maps')
  const settings = {
    ...swift.environment,
    S3_ENDPOINT: door.url,
    DATA_DIR: path.join(home, 'data'),
    RETRY_WAITS: '0.05',
  }
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, settings)
  await fillCatalog(gateway.ctx.sql, home)
  store = openObjectStore('s3://maps', gateway.ctx.settings)
  loops = Promise.all([deliveries.run(gateway.ctx), exportLoop.run(gateway.ctx)])
})
afterAll(async () => {
  await gateway.close()
  await loops
  await store.close()
  await door.close()
  await swift.stop()
  rmSync(home, { recursive: true })
})

async function post(url: string, payload: object, status: number) {
  const answer = await gateway.admin({ method: 'POST', url: `${ADMIN}${url}`, payload })
  expect(answer.statusCode, answer.body).toBe(status)
  return answer.json()
}
const get = async (url: string) => (await gateway.admin({ method: 'GET', url: `${ADMIN}${url}` })).json()
const target = (code: string, more: object = {}) =>
  post('/targets', { code, kind: 'bucket', url: `s3://maps/${code}/`, ...more }, 200)

async function ended(records: string, { id }: PushRecord): Promise<PushRecord> {
  await expect.poll(async () => (await get(`/${records}/${id}`)).next_attempt_at).toBeNull()
  return get(`/${records}/${id}`)
}

async function keys(prefix: string): Promise<string[]> {
  const entries: ListEntry[] = []
  for await (const entry of store.list(`${prefix}/`)) entries.push(entry)
  return entries.map((entry) => ('key' in entry ? entry.key.slice(prefix.length + 1) : entry.prefix))
}

const read = async (key: string) => (await store.read(key, { offset: 0, length: 1e9 })).bytes

test('a bucket is a target by its URL, without secrets, and a test of it writes and removes an object', async () => {
  expect(await target('tried')).toMatchObject({ url: 's3://maps/tried', mode: 'upload', path: null, has_secret: false })
  const tried = await post('/targets/tried/test', {}, 200)
  expect(tried).toMatchObject({ delivered: true, status: null })
  expect(await keys('tried')).toEqual([])
  await post('/targets', { code: 'none', kind: 'bucket', url: 's3://absent' }, 200)
  expect(await post('/targets/none/test', {}, 200)).toMatchObject({ delivered: false })
  for (const wrong of [
    {},
    { url: 'https://maps.example/' },
    { url: 's3://a@maps/x' },
    { url: 's3://maps', secret: 's' },
    { url: 's3://maps', path: '/x' },
  ])
    await post('/targets', { code: 'wrong', kind: 'bucket', ...wrong }, 400)
})

test('a version of folders arrives as one archive, an archive unchanged, and either replaces one of another kind', async () => {
  await target('branch')
  const push = async (version: string) =>
    ended('push-records', await post('/pushes', { target_code: 'branch', basemap_code: 'world', version }, 202))
  await swift.put('maps/branch/world/v1.mbtiles', Buffer.from('old'))
  expect(await push('v1')).toMatchObject({ status: 'succeeded' })
  expect(await keys('branch')).toEqual(['world/v1.pmtiles'])
  const archive = new PMTiles({
    getKey: () => 'bucket',
    getBytes: async (offset, length) => {
      const { bytes } = await store.read('branch/world/v1.pmtiles', { offset, length })
      return { data: Uint8Array.from(bytes).buffer }
    },
  })
  const tile = await archive.getZxy(2, 3, 1)
  expect(Buffer.from(tile?.data ?? new ArrayBuffer())).toEqual(readFileSync(path.join(home, 'maps/world/v1/2/3/1.png')))
  expect(await push('v2')).toMatchObject({ status: 'succeeded' })
  expect(await keys('branch')).toEqual(['world/v1.pmtiles', 'world/v2.mbtiles'])
  expect((await read('branch/world/v2.mbtiles')).equals(readFileSync(path.join(home, 'maps/world/v2.mbtiles')))).toBe(
    true,
  )
  expect(readdirSync(path.join(home, 'data/exports'))).toEqual([])
})

test('a version in a geographic grid arrives tile by tile, a vector with all of its parts, a notice as an object', async () => {
  await gateway.ctx.sql`
    UPDATE basemap_versions SET tile_matrix_set = 'WorldCRS84Quad' WHERE basemap_code = 'world' AND version = 'v1'`
  await target('all')
  const basemap = { target_code: 'all', basemap_code: 'world', version: 'v1' }
  expect(await ended('push-records', await post('/pushes', basemap, 202))).toMatchObject({ status: 'succeeded' })
  const arrived = await keys('all')
  expect(arrived).toHaveLength(17)
  expect(arrived).toContain('world/v1/2/3/1.png')
  expect((await read('all/world/v1/metadata.json')).toString()).toBe('{"name":"World"}')
  await gateway.ctx.sql`
    UPDATE basemap_versions SET tile_matrix_set = 'WebMercatorQuad' WHERE basemap_code = 'world' AND version = 'v1'`

  const vector = await post('/vector-pushes', { target_code: 'all', vector_code: 'lakes' }, 202)
  expect(await ended('vector-push-records', vector)).toMatchObject({ status: 'succeeded' })
  expect((await keys('all')).filter((key) => key.startsWith('lakes'))).toEqual(['lakes.dbf', 'lakes.shp', 'lakes.shx'])

  await target('told', { mode: 'notify' })
  const notice = await ended('push-records', await post('/pushes', { ...basemap, target_code: 'told' }, 202))
  expect(await keys('told')).toEqual([`${notice.id}.json`])
  expect(JSON.parse((await read(`told/${notice.id}.json`)).toString())).toMatchObject({
    event: 'basemap.version.pushed',
    record: { id: notice.id },
  })
})

test('an export goes to a bucket as the version that it is a part of', async () => {
  await target('parts')
  const body = { basemap_code: 'world', version: 'v1', bounds: [1, 1, 179, 60], target_code: 'parts' }
  const { id } = await post('/exports', body, 202)
  await expect.poll(async () => (await get(`/exports/${id}`)).push_id).not.toBeNull()
  const { push_id } = await get(`/exports/${id}`)
  expect(await ended('push-records', { id: push_id } as PushRecord)).toMatchObject({ status: 'succeeded' })
  expect(
    (await read('parts/world/v1.pmtiles')).equals(readFileSync(path.join(home, `data/exports/${id}.pmtiles`))),
  ).toBe(true)
})

test('files in a bucket are downloaded to be pushed or exported', async () => {
  const { sql } = gateway.ctx
  await sql.begin(async (tx) => {
    const source = { name: undefined, enabled: undefined }
    await upsertScanSource(tx, { ...source, code: 'far', kind: 'basemap', path: 's3://maps/parts' })
    await upsertScanSource(tx, { ...source, code: 'shapes', kind: 'vector', path: 's3://maps/all' })
    const [world] = await readBasemaps(tx, ['world'])
    await upsertBasemap(tx, { ...world!, code: 'far', sourceCode: 'far' })
    const path = 's3://maps/parts/world/v1.pmtiles'
    await upsertVersion(tx, 'far', { ...world!.versions[0]!, storage: 'pmtiles', path })
    const facts = { size: 1, modifiedAt: new Date(), fingerprint: 'f', sourceCode: 'shapes', facts: null }
    const lakes = { code: 'ponds', name: 'Ponds', kind: 'shapefile', relativePath: 'lakes.shp' } as const
    await upsertVectors(tx, [{ ...facts, ...lakes, fileName: 'lakes.shp', path: 's3://maps/all/lakes.shp' }])
  })
  const directory = path.join(home, 'near')
  mkdirSync(directory)
  await post('/targets', { code: 'near', kind: 'directory', path: directory }, 200)
  const push = await post('/pushes', { target_code: 'near', basemap_code: 'far', version: 'v1' }, 202)
  expect(await ended('push-records', push)).toMatchObject({ status: 'succeeded' })
  expect(readFileSync(path.join(directory, 'far/v1.pmtiles')).equals(await read('parts/world/v1.pmtiles'))).toBe(true)
  const vector = await post('/vector-pushes', { target_code: 'near', vector_code: 'ponds' }, 202)
  expect(await ended('vector-push-records', vector)).toMatchObject({ status: 'succeeded' })
  expect(readdirSync(directory).sort()).toEqual(['far', 'lakes.dbf', 'lakes.shp', 'lakes.shx'])
  const { id } = await post('/exports', { basemap_code: 'far', version: 'v1' }, 202)
  await expect.poll(async () => (await get(`/exports/${id}`)).finished_at).not.toBeNull()
  expect(await get(`/exports/${id}`)).toMatchObject({ status: 'succeeded', tiles: 2 })
  expect(readdirSync(path.join(home, 'data/exports')).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

const TROUBLES: readonly (readonly [Trouble, RegExp | null])[] = [
  ['503', /^it returns 503$/],
  ['429', /^it returns 429$/],
  ['cut', /other side closed|ECONNRESET|EPIPE/],
  ['keys', /^the server returns 403: SignatureDoesNotMatch/],
  ['clock', /^the server returns 403: RequestTimeTooSkewed/],
  ['slow', null],
]

test('a push to failing storage is retried, fails with the reason, and leaves nothing behind', async () => {
  door.troubleOf = (url) => TROUBLES.find(([trouble]) => url.startsWith(`/maps/into-${trouble}/`))?.[0] ?? 'none'
  const ends = TROUBLES.map(async ([trouble, said]) => {
    await target(`into-${trouble}`)
    const push = await post('/vector-pushes', { target_code: `into-${trouble}`, vector_code: 'main' }, 202)
    const { status, attempts, message } = await ended('vector-push-records', push)
    if (said !== null) expect([trouble, message]).toEqual([trouble, expect.stringMatching(said)])
    expect([trouble, status, attempts]).toEqual(said === null ? [trouble, 'succeeded', 1] : [trouble, 'failed', 2])
  })
  await Promise.all(ends)
  door.troubleOf = () => 'none'
  for (const [trouble, said] of TROUBLES) expect(await keys(`into-${trouble}`)).toHaveLength(said === null ? 1 : 0)
})

const exported = async () => (await post('/exports', { basemap_code: 'far', version: 'v1' }, 202)).id as string
const endOfExport = async (id: string) => {
  await expect.poll(async () => (await get(`/exports/${id}`)).finished_at).not.toBeNull()
  return get(`/exports/${id}`)
}

test('an export from failing storage waits for it; a replaced or refused object fails it with a reason', async () => {
  const object = 'maps/parts/world/v1.pmtiles'
  door.troubleOf = () => 'keys'
  const refused = await endOfExport(await exported())
  expect(refused).toMatchObject({ status: 'failed', message: expect.stringMatching(/403: SignatureDoesNotMatch/) })
  door.troubleOf = () => 'none'
  door.before = async (line) => {
    if (line === `GET /${object}`) await swift.put(object, Buffer.from('another'))
  }
  const before = await read('parts/world/v1.pmtiles')
  const replaced = await endOfExport(await exported())
  expect(replaced).toMatchObject({ status: 'failed', message: 'the object has been replaced' })
  await swift.put(object, before)
  let begun = 0
  door.before = async (line) => {
    const isCut = line === `GET /${object}` && ++begun === 1
    door.troubleOf = () => (isCut ? 'cut' : 'none')
  }
  expect(await endOfExport(await exported())).toMatchObject({ status: 'succeeded', tiles: 2 })
  expect(begun).toBe(2)
  door.before = async () => {}
  expect(readdirSync(path.join(home, 'data/exports')).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

test('a missing bucket is retried like any receiver, and no link leads out of the source', async () => {
  const push = (code: string) => post('/vector-pushes', { target_code: code, vector_code: 'main' }, 202)
  await post('/targets', { code: 'lost', kind: 'bucket', url: 's3://absent/x' }, 200)
  const lost = await ended('vector-push-records', await push('lost'))
  expect(lost).toMatchObject({ status: 'failed', attempts: 2 })
  expect(lost.message).not.toContain(swift.settings.awsSecretAccessKey)

  const file = path.join(home, 'vectors/roads/main.geojson')
  unlinkSync(file)
  symlinkSync('/etc/hostname', file)
  await target('safe')
  expect(await ended('vector-push-records', await push('safe'))).toMatchObject({ status: 'failed' })
  expect(await keys('safe')).toEqual([])
})
