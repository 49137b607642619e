import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { startSwift, type TestSwift } from '@gateway/object-storage/testing/swift.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import type { Gateway } from '../harness/gateway.js'
import { startGateway } from '../harness/start-gateway.js'

const RED = { r: 200, g: 30, b: 30 }
const BLUE = { r: 30, g: 30, b: 200 }

let swift: TestSwift
let gateway: Gateway
let token: string
beforeAll(async () => {
  swift = await startSwift()
  await swift.makeBucket('layers')
  const env = { ...swift.environment, SLICE_OUTPUT_ROOT: 's3://layers/sliced' }
  gateway = await startGateway({ edges: 3, ownData: true, env })
  token = (await gateway.issueToken({ basemap_codes: ['*'] })).token
})
afterAll(async () => {
  await gateway?.stop()
  await swift?.stop()
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

/** The colour of a tile's middle at every edge. */
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

test('a layer that was sliced into a bucket is served by edges that share no file, and goes on without its first copy', async () => {
  await slice('west', RED, [-90, 0, -45, 40])
  expect(await colours('3/2/3')).toEqual(Array(3).fill(near(RED)))
  await rm(join(gateway.dataDir, 'control-plane/slice-work'), { recursive: true })
  await slice('east', BLUE, [-45, 0, 0, 40])
  expect(await colours('3/3/3')).toEqual(Array(3).fill(near(BLUE)))
  expect(await colours('3/2/3')).toEqual(Array(3).fill(near(RED)))
  // A scan finds what slicing has published, as it is.
  const versions = async () =>
    (await gateway.admin.expect<{ versions: AdminBasemapVersion[] }>('/basemaps/city')).versions
  const [published, ...others] = await versions()
  expect([others, published?.storage]).toEqual([[], 'pmtiles'])
  await gateway.admin.rescan('layers')
  expect(await versions()).toEqual([{ ...published, scanned_at: expect.any(String) }])
})
