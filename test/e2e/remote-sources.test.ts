import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Certificate, makeCertificate } from '../harness/certificates.js'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { makePmtiles } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { freePort, isListening } from '../harness/ports.js'
import { ServiceProcess } from '../harness/service-process.js'
import { startGateway } from '../harness/start-gateway.js'

const RED = { r: 200, g: 30, b: 30 }
const BLUE = { r: 30, g: 30, b: 200 }

let swift: TestSwift
let gateway: Gateway
let token: string
let certificate: Certificate
beforeAll(async () => {
  swift = await startSwift()
  for (const bucket of ['layers', 'maps']) await swift.makeBucket(bucket)
  certificate = await makeCertificate()
  const env = {
    ...swift.environment,
    SLICE_OUTPUT_ROOT: 's3://layers/sliced',
    NODE_EXTRA_CA_CERTS: certificate.authority,
  }
  gateway = await startGateway({ edges: 3, ownData: true, env })
  token = (await gateway.issueToken({ basemap_codes: ['*'] })).token
})
afterAll(async () => {
  await gateway?.stop()
  await swift?.stop()
  if (certificate !== undefined) await rm(certificate.dir, { recursive: true })
})

async function slice(name: string, colour: typeof RED, bounds: readonly [number, number, number, number]) {
  const file = join(gateway.home, `${name}.tif`)
  await makeGeotiff(file, { bounds, colour })
  const job = await gateway.admin.expect<SliceJob>('/slice/jobs', {
    body: { target_code: 'city', source_path: file, zoom_min: 3, zoom_max: 3 },
  })
  const state = () => gateway.admin.expect<SliceJob>(`/slice/jobs/${job.id}`)
  await expect.poll(async () => (await state()).status).toMatch(/succeeded|failed/)
  expect((await state()).message).toBe('')
}

/** Returns the colour of a tile's middle from every edge. */
async function colours(tile: string): Promise<number[][]> {
  return Promise.all(
    gateway.edges.map(async ({ url }) => {
      const answer = await fetch(`${url}/tiles/city/${tile}.webp?token=${token}`)
      expect([tile, answer.status]).toEqual([tile, 200])
      const middle = { left: 128, top: 128, width: 1, height: 1 }
      return [
        ...(await sharp(Buffer.from(await answer.arrayBuffer()))
          .removeAlpha()
          .extract(middle)
          .raw()
          .toBuffer()),
      ]
    }),
  )
}

const near = ({ r, g, b }: typeof RED) => [r, g, b].map((value) => expect.closeTo(value, -1.4))

test('a layer sliced into a bucket is served by edges without a shared file, and without its first copy', async () => {
  await slice('west', RED, [-90, 0, -45, 40])
  expect(await colours('3/2/3')).toEqual(Array(3).fill(near(RED)))
  await rm(join(gateway.dataDir, 'control-plane/slice-work'), { recursive: true })
  await slice('east', BLUE, [-45, 0, 0, 40])
  expect(await colours('3/3/3')).toEqual(Array(3).fill(near(BLUE)))
  expect(await colours('3/2/3')).toEqual(Array(3).fill(near(RED)))
  // A scan finds the result of slicing unchanged.
  const versions = async () =>
    (await gateway.admin.expect<{ versions: AdminBasemapVersion[] }>('/basemaps/city')).versions
  const [published, ...others] = await versions()
  expect([others, published?.storage]).toEqual([[], 'pmtiles'])
  await gateway.admin.rescan('layers')
  expect(await versions()).toEqual([{ ...published, scanned_at: expect.any(String) }])
})

/** Returns the status from every edge. */
async function statuses(path: string, headers: Record<string, string>): Promise<number[]> {
  return Promise.all(gateway.edges.map(async ({ url }) => (await fetch(`${url}${path}`, { headers })).status))
}

test('a map in a bucket is granted, withdrawn and restored like one on a disk, even when cached', async () => {
  await makePmtiles(join(gateway.home, 'v1.pmtiles'), { maxZoom: 1 })
  await swift.put('maps/remote/v1.pmtiles', join(gateway.home, 'v1.pmtiles'))
  expect(await gateway.admin.scanSource('bucket', 'basemap', 's3://maps')).toMatchObject({ added: 1 })
  const [granted, other] = await Promise.all(
    ['remote', 'elsewhere'].map(async (code) => {
      const issued = await gateway.issueToken({ basemap_codes: [code] })
      return { authorization: `Bearer ${issued.token}`, id: issued.id }
    }),
  )
  const tile = '/tiles/remote/v1/1/1/1.png'
  const asked = ({ authorization = '' } = {}) => statuses(tile, { authorization })
  const paths = [tile, '/tiles/remote/tilejson.json', '/archives/remote/v1.pmtiles']
  // Three times, so that memory and the native tier serve it.
  for (let round = 0; round < 3; round++) expect(await asked(granted)).toEqual([200, 200, 200])
  for (const path of paths)
    expect(await statuses(path, { authorization: String(other?.authorization) })).toEqual([403, 403, 403])
  const caches = async () => {
    const { items } = await gateway.admin.expect<{ items: EdgePresence[] }>('/edges')
    return items.map(({ traffic }) => (traffic?.remote_cache?.fetched_bytes ?? 0) > 0)
  }
  await expect.poll(caches).toContain(true)
  const withdraw = (withdrawn: boolean) =>
    gateway.admin.expect('/basemaps/remote/versions/v1', { method: 'PATCH', body: { withdrawn } })
  await withdraw(true)
  await expect.poll(() => asked(granted)).toEqual([404, 404, 404])
  await withdraw(false)
  await expect.poll(() => asked(granted)).toEqual([200, 200, 200])
  await gateway.admin.expect(`/tokens/${granted?.id}/disable`, { method: 'POST' })
  expect(await asked(granted)).toEqual([401, 401, 401])
})

/** Serves a directory by Debian's nginx over https. */
async function serveByTls(dir: string): Promise<{ url: string; process: ServiceProcess }> {
  const port = await freePort()
  const conf = join(dir, 'nginx.conf')
  for (const name of ['tmp', 'files']) await mkdir(join(dir, name), { recursive: true })
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path tmp;`)
  await writeFile(
    conf,
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit; events { }
    http {
      access_log off; ${folders.join(' ')}
      server {
        listen 127.0.0.1:${port} ssl; root ${dir}/files;
        ssl_certificate ${certificate.certificate}; ssl_certificate_key ${certificate.key};
      }
    }`,
  )
  const process = new ServiceProcess('nginx', ['nginx', '-e', 'stderr', '-p', dir, '-c', conf], globalThis.process.env)
  while (!(await isListening(port))) {
    if (!process.running) throw new Error(`nginx does not start:\n${process.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { url: `https://localhost:${port}`, process }
}

test('an archive behind https with a private authority is scanned and served, even if replaced between two tiles', async () => {
  const dir = join(gateway.home, 'web')
  await mkdir(dir)
  const web = await serveByTls(dir)
  // Each tile is larger than a block, so each is requested. nginx derives its ETag from length and second.
  const publish = async (mark: number) => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex')
    const tiles = [0, 1].map((x) => ({
      z: 1,
      x,
      y: 0,
      data: Buffer.concat([png, Buffer.alloc(200_000 + mark, mark + x)]),
    }))
    const about = { format: 'png', encoding: 'identity', bounds: [-180, -85, 180, 85], metadata: {} } as const
    await writePmtiles(join(dir, 'next'), tiles, { ...about, bounds: [...about.bounds] })
    await rename(join(dir, 'next'), join(dir, 'files/city-web.pmtiles'))
  }
  const shown = async (x: number) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${gateway.url}/tiles/city-web/default/1/${x}/0.png`, { headers })
    const bytes = Buffer.from(await answer.arrayBuffer())
    return [answer.status, bytes[100], bytes.subarray(8).every((byte) => byte === bytes[100])]
  }
  try {
    await publish(10)
    expect(await gateway.admin.scanSource('web', 'basemap', `${web.url}/city-web.pmtiles`)).toMatchObject({ added: 1 })
    expect(await shown(0)).toEqual([200, 10, true])
    await publish(20)
    expect(await shown(1)).toEqual([200, 21, true])
    expect(await shown(0)).toEqual([200, 20, true])
    expect(await gateway.admin.rescan('web')).toMatchObject({ updated: 1, missing: 0 })
  } finally {
    await web.process.kill()
  }
})
