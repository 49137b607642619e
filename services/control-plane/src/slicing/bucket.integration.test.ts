import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { SliceJob } from '@gateway/contracts/slice.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import { type StorageDoor, startStorageDoor } from '@gateway/core/object-storage/testing/storage-door.js'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { PMTiles } from 'pmtiles'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourcesFromSettings } from '../catalog/sources/configured-sources.js'
import type { ControlContext } from '../platform/context.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { slicingLoop } from './loop.js'

let swift: TestSwift
let door: StorageDoor
let home: string
let gateway: TestApp
let store: ObjectStore
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'slice-bucket-'))
  mkdirSync(path.join(home, 'a'))
  mkdirSync(path.join(home, 'b'))
  swift = await startSwift()
  door = await startStorageDoor(swift.port, swift)
  for (const bucket of ['layers', 'images']) await swift.makeBucket(bucket)
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, {
    ...swift.environment,
    S3_ENDPOINT: door.url,
    DATA_DIR: path.join(home, 'a'),
    SLICE_OUTPUT_ROOT: 's3://layers/published/',
    SLICE_SOURCE_ROOTS: 's3://images/open',
    SLICE_FETCH_MAX_BYTES: '1m',
  })
  await sourcesFromSettings(gateway.ctx.sql, gateway.ctx.settings)
  store = openObjectStore('s3://layers/published', gateway.ctx.settings)
  const picture = madePicture()
  for (const [name, west] of Object.entries({ west: -89, middle: 1, east: 91 })) {
    await swift.put(`images/open/${name}.tif`, picture)
    await swift.put(`images/open/${name}.tfw`, Buffer.from(`0.6\n0\n0\n-0.6\n${west}\n60\n`))
    await swift.put(`images/open/${name}.prj`, Buffer.from(WGS84))
  }
})
afterAll(async () => {
  await gateway.close()
  await store.close()
  await door.close()
  await swift.stop()
  rmSync(home, { recursive: true })
})

const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'

/** Makes an image in one colour, with its position in a file next to it. */
function madePicture(): string {
  const file = path.join(home, 'picture.tif')
  const look = ['-of', 'GTiff', '-ot', 'Byte', '-bands', '3', '-burn', '200', '-outsize', '64', '64']
  execFileSync('gdal_create', ['-q', ...look, file])
  return file
}

/** Another control plane on the same store, without a shared file. */
function other(): ControlContext {
  const { settings } = gateway.ctx
  const [dataDir, sliceWorkRoot] = [path.join(home, 'b'), path.join(home, 'b/slice-work')]
  return { ...gateway.ctx, settings: { ...settings, dataDir, sliceWorkRoot } }
}

/** Submits jobs and runs them only on this control plane. */
async function slice(ctx: ControlContext, ...bodies: readonly object[]): Promise<SliceJob[]> {
  const ids: string[] = []
  for (const body of bodies) {
    const payload = { target_code: 'city', zoom_min: 2, zoom_max: 3, ...body }
    const answer = await gateway.admin({ method: 'POST', url: '/api/v1/admin/slice/jobs', payload })
    expect(answer.statusCode, answer.body).toBe(202)
    ids.push(answer.json().id)
  }
  const stop = new AbortController()
  const loop = slicingLoop.run({ ...ctx, shutdown: stop.signal })
  const job = async (id: string) =>
    (await gateway.admin({ method: 'GET', url: `/api/v1/admin/slice/jobs/${id}` })).json()
  for (const id of ids) {
    await expect.poll(async () => (await job(id)).status).toMatch(/succeeded|failed/)
  }
  stop.abort()
  await loop
  return Promise.all(ids.map(job))
}

async function tiles(key: string): Promise<string[]> {
  const archive = new PMTiles({
    getKey: () => key,
    getBytes: async (offset, length) => {
      const { bytes } = await store.read(key, { offset, length })
      return { data: Uint8Array.from(bytes).buffer }
    },
  })
  const found: string[] = []
  for (let x = 0; x < 8; x++) if ((await archive.getZxy(3, x, 3)) !== undefined) found.push(`3/${x}/3`)
  return found
}

const source = (name: string) => ({ source_path: `s3://images/open/${name}.tif` })

test('an image from a bucket becomes a layer that is one object, and every control plane can continue it', async () => {
  const [job] = (await slice(gateway.ctx, source('west'))) as [SliceJob]
  expect(job).toMatchObject({ status: 'succeeded', message: '' })
  const version = job.output_root.split('/').at(-1)?.replace('.pmtiles', '')
  const key = `city/${version}.pmtiles`
  expect(job.output_root).toBe(`s3://layers/published/${key}`)
  expect(await tiles(key)).toEqual(['3/2/3'])
  const basemap = await readBasemap(gateway.ctx.sql, 'city')
  expect(basemap).toMatchObject({ sourceCode: 'layers', sourcePath: 's3://layers/published', defaultVersion: version })
  expect(basemap?.versions).toMatchObject([
    { path: job.output_root, storage: 'pmtiles', format: 'webp', minZoom: 2, maxZoom: 3, available: true },
  ])

  expect(await slice(other(), source('middle'))).toMatchObject([{ status: 'succeeded', output_root: job.output_root }])
  expect(await tiles(key)).toEqual(['3/2/3', '3/4/3'])
  // The local copy is older than the object.
  expect(await slice(gateway.ctx, source('east'))).toMatchObject([
    { status: 'succeeded', output_root: job.output_root },
  ])
  expect(await tiles(key)).toEqual(['3/2/3', '3/4/3', '3/6/3'])
  const after = await readBasemap(gateway.ctx.sql, 'city')
  expect(after?.versions[0]?.revision).toBeGreaterThan(basemap?.versions[0]?.revision ?? 0)
  expect(readdirSync(path.join(home, 'a/slice-temp/fetched'))).toEqual([])
})

test('several images become a version next to the previous one, and a removed version removes its object', async () => {
  const names = ['west', 'east'].map((name) => `s3://images/open/${name}.tif`)
  const [job] = (await slice(gateway.ctx, { source_paths: names })) as [SliceJob]
  expect(job).toMatchObject({ status: 'succeeded', source_paths: names })
  const key = job.output_root.replace('s3://layers/published/', '')
  expect(await tiles(key)).toEqual(['3/2/3', '3/6/3'])
  const version = path.basename(key, '.pmtiles')
  expect((await readBasemap(gateway.ctx.sql, 'city'))?.defaultVersion).toBe(version)
  expect(readdirSync(path.join(home, 'a/slice-work/city'))).toEqual([version])
  const url = `/api/v1/admin/basemaps/city/versions/${version}?files=true`
  const removed = await gateway.admin({ method: 'DELETE', url })
  expect([removed.statusCode, removed.json().files]).toEqual([200, 1])
  expect(await store.head(key)).toBeUndefined()
  expect(existsSync(path.join(home, 'a/slice-work/city', version))).toBe(false)
})

test('a forbidden or oversized image, or a failed publication, fails with a reason, and leaves the layer unchanged', async () => {
  await swift.put('images/secret.tif', Buffer.from('secret'))
  await swift.put('images/open/huge.tif', Buffer.alloc(1024 * 1024 + 1))
  const before = await readBasemap(gateway.ctx.sql, 'city')
  const failed = await slice(
    gateway.ctx,
    { source_path: 's3://images/secret.tif' },
    { source_path: path.join(home, 'picture.tif') },
    source('huge'),
    source('absent'),
    { ...source('west'), target_code: 'grid', tile_matrix_set: 'WorldCRS84Quad' },
  )
  expect(failed.map(({ status }) => status)).toEqual(Array(5).fill('failed'))
  expect(failed.map(({ message }) => message)).toEqual([
    expect.stringContaining('SLICE_SOURCE_ROOTS'),
    expect.stringMatching(/outside|allowed/),
    expect.stringContaining('SLICE_FETCH_MAX_BYTES'),
    expect.stringContaining('is missing'),
    expect.stringContaining('Web Mercator'),
  ])
  const nowhere = { ...gateway.ctx, settings: { ...gateway.ctx.settings, sliceOutputRoot: 's3://absent/x' } }
  expect(await slice(nowhere, source('west'))).toMatchObject([
    { status: 'failed', message: expect.stringContaining('layers cannot be written to s3://absent/x') },
  ])
  expect(await readBasemap(gateway.ctx.sql, 'city')).toEqual(before)
  expect(readdirSync(path.join(home, 'a/slice-temp/fetched'))).toEqual([])
})

test('storage that truncates an image and refuses the layer for a while delays a job; wrong keys end it with a reason', async () => {
  const before = await readBasemap(gateway.ctx.sql, 'city')
  door.troubleOf = () => 'keys'
  expect(await slice(gateway.ctx, source('east'))).toMatchObject([
    { status: 'failed', message: expect.stringContaining('403: SignatureDoesNotMatch') },
  ])
  expect(await readBasemap(gateway.ctx.sql, 'city')).toEqual(before)
  const seen = { cut: 0, refused: 0 }
  door.before = async (line) => {
    if (line.startsWith('GET /images/open/east.tif') && seen.cut < 1) {
      seen.cut++
      door.troubleOf = () => 'cut'
    } else if (line.startsWith('PUT /layers/') && seen.refused < 3) {
      seen.refused++
      door.troubleOf = () => '503'
    } else door.troubleOf = () => 'none'
  }
  const names = ['east', 'middle'].map((name) => `s3://images/open/${name}.tif`)
  const [job] = (await slice(gateway.ctx, { source_paths: names, target_code: 'patient' })) as [SliceJob]
  expect(job).toMatchObject({ status: 'succeeded', message: '' })
  expect(seen).toEqual({ cut: 1, refused: 3 })
  expect(await tiles(job.output_root.replace('s3://layers/published/', ''))).toEqual(['3/4/3', '3/6/3'])
})

test('a URL that is not an object is refused at once', async () => {
  for (const wrong of ['s3://images', 's3://images/open/', 'https://images.example/a.tif', 's3://key@images/a.tif']) {
    const payload = { target_code: 'city', source_path: wrong }
    const answer = await gateway.admin({ method: 'POST', url: '/api/v1/admin/slice/jobs', payload })
    expect([wrong, answer.statusCode]).toEqual([wrong, 400])
  }
})
