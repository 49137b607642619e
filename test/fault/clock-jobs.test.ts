import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useFakeClock } from '../harness/fake-clock.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { OwnPostgres } from '../harness/own-postgres.js'
import { useGateway } from '../harness/use-gateway.js'

const GLOBE = fileURLToPath(new URL('../../services/tools/demo-data/imagery/blue-marble.jpg', import.meta.url))
const HOUR = 3_600

const clock = useFakeClock()

/** The store, whose clock decides about leases, steps too. */
async function storeOfThisClock() {
  Object.assign(process.env, clock.environment)
  try {
    return (await OwnPostgres.start()).database
  } finally {
    for (const name of Object.keys(clock.environment)) delete process.env[name]
  }
}

const arrived: string[] = []
let release = () => {}
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    arrived.push(String(request.headers['webhook-id']))
    release = () => response.end('thanks')
  })
})
beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
})

const gateway = useGateway(
  { database: storeOfThisClock, env: { ...clock.environment, CALLBACK_ALLOW: '127.0.0.0/8', RETRY_WAITS: '2,2,2' } },
  async ({ home, admin }) => {
    const place = ['-a_srs', 'EPSG:4326', '-a_ullr', '-180', '40', '180', '-40']
    await promisify(execFile)('gdal_translate', ['-q', '-of', 'GTiff', ...place, GLOBE, join(home, 'globe.tif')])
    await makeTileFolder(join(home, 'maps/world/v1'), { maxZoom: 1 })
    await admin.scanSource('maps', 'basemap', join(home, 'maps'))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    await admin.expect('/targets', { body: { code: 'there', kind: 'http', mode: 'notify', url } })
  },
)

test.each([2 * HOUR, -2 * HOUR, 48 * HOUR, 0])(
  'jobs and pushes that run while all clocks step to %i s end once',
  {
    timeout: 240_000,
  },
  async (step) => {
    gateway().allowErrors(/lease|lost|slic|time/i)
    const code = `layer${step}`
    const body = { target_code: code, source_paths: [join(gateway().home, 'globe.tif')], zoom_max: 5 }
    const { id } = await gateway().admin.expect<SliceJob>('/slice/jobs', { body })
    const push = await gateway().admin.expect<{ id: string }>('/pushes', {
      body: { target_code: 'there', basemap_code: 'world', version: 'v1' },
    })
    const job = () => gateway().admin.expect<SliceJob>(`/slice/jobs/${id}`)
    const record = () => gateway().admin.expect<{ status: string; message: string }>(`/push-records/${push.id}`)
    const before = arrived.length
    await expect.poll(async () => (await job()).progress).toBeGreaterThan(0)
    await expect.poll(() => arrived.length).toBe(before + 1)
    clock.step(step)
    // Meanwhile the runners look for work, and may find that the lease of the delivery has expired.
    await sleep(3_000)
    release()
    await expect.poll(async () => (await record()).status, { timeout: 120_000 }).toMatch(/succeeded|failed/)
    await expect.poll(async () => (await job()).status, { timeout: 120_000 }).toMatch(/succeeded|failed/)
    expect(await record()).toMatchObject({ status: 'succeeded', message: '' })
    expect(await job()).toMatchObject({ status: 'succeeded', message: '' })
    expect(new Set(arrived.slice(before)).size).toBe(1)
  },
)

test('a job whose control plane is killed goes on soon, although the clock of the store has stepped back since', {
  timeout: 240_000,
}, async () => {
  gateway().allowErrors(/./)
  clock.step(2 * HOUR)
  const body = { target_code: 'killed', source_paths: [join(gateway().home, 'globe.tif')], zoom_max: 5 }
  const { id } = await gateway().admin.expect<SliceJob>('/slice/jobs', { body })
  const job = () => gateway().admin.expect<SliceJob>(`/slice/jobs/${id}`)
  await expect.poll(async () => (await job()).progress).toBeGreaterThan(0)
  await gateway().controlPlane.process.kill()
  clock.step(0)
  gateway().controlPlane.process.start()
  await gateway().ready()
  await expect.poll(async () => (await job()).status, { timeout: 120_000 }).toBe('succeeded')
})
