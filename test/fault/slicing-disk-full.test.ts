import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { afterAll, expect, test } from 'vitest'
import { SmallDisk } from '../harness/small-disk.js'
import { startGateway } from '../harness/start-gateway.js'

const GLOBE = fileURLToPath(new URL('../../services/tools/demo-data/imagery/blue-marble.jpg', import.meta.url))

/** Size for the data of a gateway and one layer. */
const disk = await SmallDisk.mount(256)
afterAll(() => disk?.remove())

test('a slice job on a full disk fails with the reason, leaves the layer as it was, and succeeds once there is room', {
  timeout: 240_000,
}, async ({ annotate }) => {
  if (disk === null) {
    await annotate('no file system can be mounted here: not tested')
    return
  }
  const gateway = await startGateway({ env: { DATA_DIR: disk.path } })
  gateway.allowErrors(/disk|space|slic/i)
  const image = join(gateway.home, 'globe.tif')
  const place = ['-a_srs', 'EPSG:4326', '-a_ullr', '-180', '85', '180', '-85']
  await promisify(execFile)('gdal_translate', ['-q', '-of', 'GTiff', ...place, GLOBE, image])
  const slice = async (zoom_max: number, whileRunning?: () => Promise<void>): Promise<SliceJob> => {
    const body = { target_code: 'globe', source_path: image, zoom_max }
    const { id } = await gateway.admin.expect<SliceJob>('/slice/jobs', { body })
    const read = () => gateway.admin.expect<SliceJob>(`/slice/jobs/${id}`)
    if (whileRunning !== undefined) {
      await expect.poll(async () => (await read()).status).not.toBe('pending')
      await whileRunning()
    }
    await expect.poll(async () => (await read()).status, { timeout: 120_000 }).toMatch(/succeeded|failed/)
    return read()
  }
  const layer = () => readdirSync(join(disk.path, 'layers/globe')).sort()

  expect(await slice(1)).toMatchObject({ status: 'succeeded', message: '' })
  const before = layer()
  const { token } = await gateway.issueToken({ basemap_codes: ['globe'] })
  const served = async (tile = '0/0/0') =>
    (await fetch(`${gateway.url}/tiles/globe/${tile}.webp?token=${token}`)).status

  await disk.fill()
  expect(await slice(2)).toMatchObject({ status: 'failed', message: expect.stringMatching(/^the disk is full/) })
  await disk.free()
  const during = await slice(7, () => disk.fill())
  expect(during).toMatchObject({ status: 'failed', message: expect.stringMatching(/^the disk is full/) })
  expect(layer()).toEqual(before)
  expect(await served()).toBe(200)
  await disk.free()
  expect(await slice(2)).toMatchObject({ status: 'succeeded', message: '' })
  await expect.poll(() => served('2/1/1')).toBe(200)
  await gateway.stop()
})
