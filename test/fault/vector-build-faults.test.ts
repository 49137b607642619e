import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { afterAll, expect, test } from 'vitest'
import { withConnection } from '../harness/database.js'
import type { Gateway } from '../harness/gateway.js'
import { childrenOf, readProc } from '../harness/processes.js'
import { SmallDisk } from '../harness/small-disk.js'
import { startGateway } from '../harness/start-gateway.js'

/** Enough to be found while it is built. */
const FEATURES = 20_000
const LAST = { tile_max_zoom: 9 }

/** A grid of squares, which takes seconds to build. */
async function writeSquares(gateway: Gateway, count = FEATURES): Promise<string> {
  const folder = join(gateway.home, 'vectors')
  await mkdir(folder, { recursive: true })
  const features = Array.from({ length: count }, (_, i) => {
    const [x, y] = [(i % 250) / 50, Math.floor(i / 250) / 50]
    const ring = [
      [x, y],
      [x + 0.02, y],
      [x + 0.02, y + 0.02],
      [x, y + 0.02],
      [x, y],
    ]
    return {
      type: 'Feature',
      properties: { i },
      geometry: { type: 'Polygon', coordinates: [ring] },
    }
  })
  await writeFile(join(folder, 'squares.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  return folder
}

const vector = (gateway: Gateway) => gateway.admin.expect<AdminVector>('/vectors/squares')
const patch = (gateway: Gateway, body: object) =>
  gateway.admin.expect<AdminVector>('/vectors/squares', {
    method: 'PATCH',
    body,
  })

async function ended(gateway: Gateway): Promise<AdminVector['tiles']> {
  for (;;) {
    const { tiles } = await vector(gateway)
    if (tiles.status !== 'building') return tiles
    await sleep(50)
  }
}

/** The process that builds, once it writes. @param after the process before it */
async function builderOf(gateway: Gateway, after: number | null = null): Promise<number> {
  for (;;) {
    const found = childrenOf(gateway.controlPlane.process.pid).find(
      (pid) => pid !== after && readProc(pid, 'cmdline').includes('vectors/build-process.js'),
    )
    const written = await readdir(join(gateway.dataDir, 'vector-builds/squares')).catch(() => [])
    if (found !== undefined && written.some((name) => name.endsWith('.tmp'))) return found
    await sleep(10)
  }
}

const leftovers = async (gateway: Gateway) =>
  (await readdir(join(gateway.dataDir, 'vector-builds/squares'))).filter((name) => name.endsWith('.tmp'))

test('a builder that is killed is started again after a while, and what was built before is served meanwhile', async () => {
  const gateway = await startGateway()
  await gateway.admin.scanSource('vectors', 'vector', await writeSquares(gateway, 100))
  expect(await ended(gateway)).toMatchObject({ status: 'ready' })
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const tile = async () => (await fetch(`${gateway.url}/vectors/squares/tiles/0/0/0.mvt?token=${token}`)).status
  await expect.poll(tile).toBe(200)

  await writeSquares(gateway)
  await gateway.admin.rescan('vectors')
  const first = await builderOf(gateway)
  process.kill(first, 'SIGKILL')
  await builderOf(gateway, first)
  expect(await tile()).toBe(200)
  expect(await ended(gateway)).toMatchObject({ status: 'ready', message: '' })
  expect(await leftovers(gateway)).toEqual([])
  await gateway.stop()
})

test('a builder that is killed each time leaves the reason, and builds again when it is asked to', async () => {
  const gateway = await startGateway()
  await gateway.admin.scanSource('vectors', 'vector', await writeSquares(gateway))
  const first = await builderOf(gateway)
  // As if it had been killed three times: the pauses grow up to five minutes.
  await withConnection(gateway.database.url, (sql) => sql`UPDATE vectors SET build_crashes = 3`)
  process.kill(first, 'SIGKILL')
  process.kill(await builderOf(gateway, first), 'SIGKILL')
  expect(await ended(gateway)).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/memory.*set tiles to true/),
    message_code: 'vector_builder_ended',
    message_params: { count: 5, words: expect.stringContaining('SIGKILL') },
  })
  expect(await leftovers(gateway)).toEqual([])

  await patch(gateway, { tiles: true, ...LAST })
  expect(await ended(gateway)).toMatchObject({ status: 'ready', message: '', message_code: null, max_zoom: 9 })
  await gateway.stop()
})

test('a control plane that is killed half-way through a build builds again after its restart, and leaves nothing behind', async () => {
  const gateway = await startGateway()
  gateway.allowErrors(/ECONN|connect|terminat/i)
  await gateway.admin.scanSource('vectors', 'vector', await writeSquares(gateway))
  await builderOf(gateway)
  await gateway.controlPlane.process.kill()
  gateway.controlPlane.process.start()
  await gateway.ready()
  expect(await ended(gateway)).toMatchObject({ status: 'ready', message: '' })
  expect(await leftovers(gateway)).toEqual([])
  await gateway.stop()
})

test('a file that is replaced half-way through its build says so, and the next scan builds it', async () => {
  const gateway = await startGateway()
  const folder = await writeSquares(gateway)
  await gateway.admin.scanSource('vectors', 'vector', folder)
  await builderOf(gateway)
  await writeSquares(gateway, 200)
  expect(await ended(gateway)).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('next scan'),
  })
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const download = await fetch(`${gateway.url}/vectors/squares/download?token=${token}`)
  expect(((await download.json()) as { features: object[] }).features).toHaveLength(200)
  await gateway.admin.rescan('vectors')
  expect(await ended(gateway)).toMatchObject({ status: 'ready', message: '' })
  const items = await fetch(`${gateway.url}/ogc/collections/squares/items?limit=1&token=${token}`)
  expect(await items.json()).toMatchObject({ numberMatched: 200 })
  await gateway.stop()
})

/** More than the small disk holds. */
const TOO_MANY = 60_000
const disk = await SmallDisk.mount(12)
afterAll(() => disk?.remove())

test('a disk that fills during a build is the reason, the previous tiles stay, and the build succeeds once there is room', async ({
  annotate,
}) => {
  if (disk === null) {
    await annotate('no file system can be mounted here: not tested')
    return
  }
  const gateway = await startGateway({ env: { VECTOR_BUILD_ROOT: disk.path } })
  await gateway.admin.scanSource('vectors', 'vector', await writeSquares(gateway, 10))
  expect(await ended(gateway)).toMatchObject({ status: 'ready' })
  await writeSquares(gateway, TOO_MANY)
  await gateway.admin.rescan('vectors')
  const failed = await ended(gateway)
  expect(failed).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('is full'),
  })
  expect((await readdir(join(disk.path, 'squares'))).filter((name) => name.endsWith('.tmp'))).toEqual([])
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const tile = await fetch(`${gateway.url}/vectors/squares/tiles/0/0/0.mvt?token=${token}`)
  expect(tile.status).toBe(200)
  await tile.arrayBuffer()
  await writeSquares(gateway, 20)
  await gateway.admin.rescan('vectors')
  expect(await ended(gateway)).toMatchObject({ status: 'ready', message: '' })
  await gateway.stop()
})
