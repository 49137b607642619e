import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SliceJob } from '@gateway/contracts/slice.js'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { useGateway } from '../harness/use-gateway.js'

const RED = { r: 200, g: 30, b: 30 }
const BLUE = { r: 30, g: 30, b: 200 }
const WEST = [-90, 0, -45, 40] as const
const EAST = [-45, 0, 0, 40] as const

let slicer: string
let reader: string
const gateway = useGateway({}, async (started) => {
  slicer = (await started.issueToken({ scopes: ['slice'] })).token
  reader = (await started.issueToken({ basemap_codes: ['*'] })).token
  await makeGeotiff(join(started.home, 'west.tif'), { bounds: WEST, colour: RED })
  await makeGeotiff(join(started.home, 'east.tif'), { bounds: EAST, colour: BLUE })
})

const image = (name: string) => join(gateway().home, name)

async function submit(body: Record<string, unknown>, token = slicer): Promise<{ status: number; job: SliceJob }> {
  const answer = await fetch(`${gateway().url}/api/v1/slice/jobs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Access-Token': token },
    body: JSON.stringify(body),
  })
  return { status: answer.status, job: (await answer.json()) as SliceJob }
}

async function poll(id: string, token = slicer): Promise<{ status: number; job: SliceJob }> {
  const answer = await fetch(`${gateway().url}/api/v1/slice/jobs/${id}`, { headers: { 'X-Access-Token': token } })
  return { status: answer.status, job: (await answer.json()) as SliceJob }
}

async function ended(id: string): Promise<SliceJob> {
  for (;;) {
    const { job } = await poll(id)
    if (job.status === 'succeeded' || job.status === 'failed') return job
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function pixel(code: string, path: string, x: number, y: number): Promise<number[]> {
  const answer = await fetch(`${gateway().url}/tiles/${code}/${path}.webp?token=${reader}`)
  expect([path, answer.status]).toEqual([path, 200])
  const { data, info } = await sharp(Buffer.from(await answer.arrayBuffer()))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)]
}

const near = (colour: typeof RED) => [colour.r, colour.g, colour.b].map((value) => expect.closeTo(value, -1.4))

test('the scan source for sliced layers stays at SLICE_OUTPUT_ROOT', async () => {
  const { admin } = gateway()
  const { path } = await admin.expect<{ path: string }>('/scan-sources/layers')
  const save = (to: string) => admin.call('/scan-sources', { body: { code: 'layers', kind: 'basemap', path: to } })
  const error = expect.stringContaining('SLICE_OUTPUT_ROOT')
  expect(await save(gateway().home)).toMatchObject({ status: 400, body: { error } })
  expect(await save(path)).toMatchObject({ status: 200, body: { path } })
})

test('one image becomes a layer that every reader sees by itself, with sources, TileJSON and a log', async () => {
  const { status, job } = await submit({
    target_code: '影像west',
    name: 'West',
    source_path: image('west.tif'),
    zoom_max: 3,
    requested_by: 'the test',
  })
  expect(status).toBe(202)
  expect(job).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'West',
    source_count: 1,
    source_paths: [image('west.tif')],
    target_code: 'west',
    zoom_min: 0,
    zoom_max: 3,
    tile_size: 256,
    tile_format: 'webp',
    message: '',
    callback_status: '',
    requested_by: 'the test',
  })
  expect(['pending', 'running']).toContain(job.status)
  const done = await ended(job.id)
  expect(done).toMatchObject({
    status: 'succeeded',
    message: '',
    progress: 100,
    log_path: expect.stringMatching(/\.log$/),
  })
  expect((await pixel('west', '3/2/3', 128, 128)).slice(0, 3)).toEqual(near(RED))
  const sources = await fetch(`${gateway().url}/api/v1/slice/layers/west/sources`, {
    headers: { 'X-Access-Token': slicer },
  })
  expect(await sources.json()).toMatchObject({
    code: 'west',
    version: expect.any(String),
    source_paths: [image('west.tif')],
  })
  const tilejson = await fetch(`${gateway().url}/tiles/west/tilejson.json?token=${reader}`)
  expect(await tilejson.json()).toMatchObject({ name: 'West', minzoom: 0, maxzoom: 3 })
  const log = await fetch(`${gateway().url}/api/v1/admin/slice/jobs/${job.id}/log`, {
    headers: { Authorization: `Bearer ${gateway().adminToken}` },
  })
  expect(await log.text()).toMatch(/"type":"result"/)
})

// Five jobs in sequence.
test('a job knows the place of its layer from its submission', async () => {
  const sources = [image('west.tif'), image('east.tif')]
  // All jobs wait for the first one, which builds another layer: their places are predicted.
  const other = await submit({ target_code: 'ahead', source_paths: sources, zoom_max: 6 })
  const single = await submit({ target_code: 'told', source_path: sources[0], zoom_max: 2 })
  const again = await submit({ target_code: 'told', source_path: sources[1], zoom_max: 2 })
  const rebuilt = await submit({ target_code: 'told', source_paths: sources, zoom_max: 2 })
  const onTop = await submit({ target_code: 'told', source_path: sources[0], zoom_max: 2 })
  const told = [other, single, again, rebuilt, onTop].map(({ job }) => job)
  const [, first, second, third, fourth] = told.map((job) => job.output_root)
  expect(first).toMatch(new RegExp(`^${gateway().home}.*/told/[^/]+$`))
  expect([second, fourth]).toEqual([first, third])
  expect(third).not.toBe(first)
  const done = await Promise.all(told.map((job) => ended(job.id)))
  expect(done.map((job) => [job.status, job.output_root])).toEqual(told.map((job) => ['succeeded', job.output_root]))
})

/** The tile URL of `both` and its revision, from TileJSON. */
async function shown(): Promise<{ address: string; revision: number }> {
  const answer = await fetch(`${gateway().url}/tiles/both/tilejson.json`, { headers: { 'X-Access-Token': reader } })
  const { tiles } = (await answer.json()) as { tiles: [string] }
  const { origin, pathname, searchParams } = new URL(tiles[0])
  return { address: origin + pathname, revision: Number(searchParams.get('v')) }
}

test('a second image accumulates: it covers its own area, and everything else stays', async () => {
  const first = await submit({ target_code: 'both', source_paths: [image('west.tif')], zoom_max: 3 })
  expect(await ended(first.job.id)).toMatchObject({ status: 'succeeded' })
  const before = await shown()
  const second = await submit({ target_code: 'both', source_paths: [image('east.tif')], zoom_max: 3 })
  expect(await ended(second.job.id)).toMatchObject({ status: 'succeeded' })
  // The same version with other content: a URL under which no cache has stored anything.
  const after = await shown()
  expect(after.address).toBe(before.address)
  expect(after.revision).toBeGreaterThan(before.revision)
  expect((await pixel('both', '3/2/3', 128, 128)).slice(0, 3)).toEqual(near(RED))
  expect((await pixel('both', '3/3/3', 128, 128)).slice(0, 3)).toEqual(near(BLUE))
  const sources = await fetch(`${gateway().url}/api/v1/slice/layers/both/sources`, {
    headers: { 'X-Access-Token': slicer },
  })
  expect(await sources.json()).toMatchObject({ source_paths: [image('west.tif'), image('east.tif')] })
})

test('several images build a new version next to the old one, which becomes the default', async () => {
  const old = (
    await gateway().admin.expect<{ items: { code: string; default_version: string }[] }>('/basemaps')
  ).items.find((basemap) => basemap.code === 'both')?.default_version
  const { job } = await submit({
    target_code: 'both',
    source_paths: [image('west.tif'), image('east.tif')],
    zoom_max: 2,
  })
  expect(await ended(job.id)).toMatchObject({ status: 'succeeded', source_count: 2 })
  const both = (
    await gateway().admin.expect<{
      items: { code: string; default_version: string; versions: { version: string }[] }[]
    }>('/basemaps')
  ).items.find((basemap) => basemap.code === 'both')
  expect(both?.default_version).not.toBe(old)
  expect(both?.versions.map((version) => version.version)).toContain(old)
  expect((await fetch(`${gateway().url}/tiles/both/${old}/3/2/3.webp?token=${reader}`)).status).toBe(200)
})

test('a layer across the antimeridian has the bounds and the centre of its data', async () => {
  await makeGeotiff(image('fiji-west.tif'), { bounds: [170, -20, 180, -10], colour: RED })
  await makeGeotiff(image('fiji-east.tif'), { bounds: [-180, -20, -175, -10], colour: BLUE })
  const sources = [image('fiji-west.tif'), image('fiji-east.tif')]
  const { job } = await submit({ target_code: 'fiji', source_paths: sources, zoom_max: 4 })
  expect(await ended(job.id)).toMatchObject({ status: 'succeeded' })
  const { items } = await gateway().admin.expect<{ items: { code: string; versions: { bounds: number[] }[] }[] }>(
    '/basemaps',
  )
  const [west, south, east, north] = items.find(({ code }) => code === 'fiji')?.versions[0]?.bounds ?? []
  expect([west, south, east, north]).toEqual([170, -20, -175, -10].map((degrees) => expect.closeTo(degrees, 3)))
  const told = await (await fetch(`${gateway().url}/tiles/fiji/tilejson.json?token=${reader}`)).json()
  // TileJSON 3.0.0 does not allow bounds that wrap.
  expect(told).toMatchObject({ bounds: [-180, expect.closeTo(-20, 3), 180, expect.closeTo(-10, 3)] })
  expect((told as { center: number[] }).center).toEqual([expect.closeTo(177.5, 2), expect.closeTo(-15, 2), 4])
})

test('a repeated code returns the existing job and does not queue a second one', async () => {
  const body = { target_code: 'once', source_paths: [image('west.tif')], code: 'the-key' }
  const first = await submit(body)
  const second = await submit({ ...body, name: 'another' })
  expect(second.status).toBe(202)
  expect(second.job.id).toBe(first.job.id)
  expect(second.job.code).toBe('the-key')
  await ended(first.job.id)
  expect((await submit(body)).job.id).toBe(first.job.id)
})

test('a missing or unreadable source makes the job fail with a reason', async () => {
  const { status, job } = await submit({ target_code: 'ghost', source_paths: [image('nowhere.tif')] })
  expect(status).toBe(202)
  expect(await ended(job.id)).toMatchObject({ status: 'failed', message: expect.stringMatching(/nowhere|not|exist/i) })
  // A scan would warn of an empty folder.
  expect(existsSync(dirname(job.output_root))).toBe(false)
  expect((await fetch(`${gateway().url}/tiles/ghost/0/0/0.webp?token=${reader}`)).status).toBe(404)
})

test.each([
  ['no target_code', { source_paths: ['/a.tif'] }],
  ['a target_code with nothing left in ASCII', { target_code: '影像', source_paths: ['/a.tif'] }],
  ['a target_code that leads elsewhere', { target_code: '../x', source_paths: ['/a.tif'] }],
  ['no source', { target_code: 'x' }],
  ['an empty list of sources', { target_code: 'x', source_paths: [] }],
  ['a relative path', { target_code: 'x', source_paths: ['a.tif'] }],
  ['a virtual file system', { target_code: 'x', source_paths: ['/vsicurl/http://127.0.0.1/a.tif'] }],
  ['a subdataset', { target_code: 'x', source_paths: ['NETCDF:"/a.nc":x'] }],
  ['zooms the wrong way round', { target_code: 'x', source_paths: ['/a.tif'], zoom_min: 5, zoom_max: 2 }],
  ['a zoom that is no integer', { target_code: 'x', source_paths: ['/a.tif'], zoom_max: 1.5 }],
  ['a misspelt field', { target_code: 'x', source_paths: ['/a.tif'], zoom_mx: 5 }],
  ['an odd tile size', { target_code: 'x', source_paths: ['/a.tif'], tile_size: 300 }],
  [
    'a callback to another protocol',
    { target_code: 'x', source_paths: ['/a.tif'], callback_url: 'file:///etc/passwd' },
  ],
])('%s is refused with 400', async (_, body) => {
  const { status, job } = await submit(body)
  expect(status).toBe(400)
  expect(job).toEqual({ error: expect.any(String) })
})

test('slicing needs the scope slice, and an unknown job returns 404', async () => {
  expect((await submit({ target_code: 'x', source_paths: ['/a.tif'] }, reader)).status).toBe(403)
  expect((await submit({ target_code: 'x', source_paths: ['/a.tif'] }, '')).status).toBe(401)
  expect((await poll('00000000-0000-4000-8000-000000000000')).status).toBe(404)
  expect((await poll('nonsense')).status).toBe(404)
  expect((await poll('nonsense', reader)).status).toBe(403)
})

describe('the completion callback', () => {
  let receiver: Server
  let url: string
  const received: { headers: Record<string, unknown>; body: { event: string; job: SliceJob; delivered: string } }[] = []
  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      received.push({ headers: request.headers, body: JSON.parse(await text(request)) })
      response.end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    url = `http://127.0.0.1:${(receiver.address() as { port: number }).port}/hook`
  })
  afterAll(() => receiver.close())

  test.each([
    ['success', 'west.tif', 'succeeded'],
    ['failure', 'nowhere.tif', 'failed'],
  ])('is delivered after a %s', async (_, file, status) => {
    const { job } = await submit({ target_code: `called-${status}`, source_paths: [image(file)], callback_url: url })
    await ended(job.id)
    const callback = () => received.find((one) => one.body.job.id === job.id)
    await expect.poll(callback).toBeDefined()
    const call = callback()
    expect(call?.body).toMatchObject({
      event: 'tile.job.finished',
      job: { id: job.id, status },
      delivered: expect.stringMatching(/Z$/),
    })
    expect(call?.headers['webhook-id']).toBeTruthy()
    for (;;) {
      const { job: now } = await poll(job.id)
      if (now.callback_status === 'succeeded') {
        expect(now).toMatchObject({ callback_attempts: 1, callback_message: expect.any(String) })
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
})
