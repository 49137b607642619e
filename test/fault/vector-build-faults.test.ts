import { existsSync } from 'node:fs'
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
import { useGateway } from '../harness/use-gateway.js'

/** Enough to be found while it is built. */
const FEATURES = 20_000
const LAST = { tile_max_zoom: 9 }

/** One gateway for all tests but the last; each has its own vector. */
const shared = useGateway()

/** Writes a vector and scans it: a grid of squares, which takes seconds to build. */
async function publish(gateway: Gateway, code: string, count = FEATURES): Promise<void> {
  const isNew = !existsSync(join(gateway.home, code))
  const folder = await writeSquares(gateway, code, count)
  await (isNew ? gateway.admin.scanSource(code, 'vector', folder) : gateway.admin.rescan(code))
}

async function writeSquares(gateway: Gateway, code: string, count: number): Promise<string> {
  const folder = join(gateway.home, code)
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
  await writeFile(join(folder, `${code}.geojson`), JSON.stringify({ type: 'FeatureCollection', features }))
  return folder
}

const vector = (gateway: Gateway, code: string) => gateway.admin.expect<AdminVector>(`/vectors/${code}`)

async function ended(gateway: Gateway, code: string): Promise<AdminVector['tiles']> {
  for (;;) {
    const { tiles } = await vector(gateway, code)
    if (tiles.status !== 'building') return tiles
    await sleep(50)
  }
}

const buildsOf = (gateway: Gateway, code: string) => join(gateway.dataDir, 'vector-builds', code)
/** The scratch folders of builds. A vector without any build has no folder. */
const leftovers = async (folder: string) =>
  (existsSync(folder) ? await readdir(folder) : []).filter((name) => name.endsWith('.tmp'))

/** The process that builds, once it writes. @param after the process before it */
async function builderOf(gateway: Gateway, code: string, after: number | null = null): Promise<number> {
  for (;;) {
    const found = childrenOf(gateway.controlPlane.process.pid).find(
      (pid) => pid !== after && readProc(pid, 'cmdline').includes('query/conversion-process.js'),
    )
    const written = await leftovers(buildsOf(gateway, code)).catch(() => [])
    if (found !== undefined && written.length > 0) return found
    await sleep(10)
  }
}

/** Publishes a vector and stops its builder once it writes, since on a busy machine a build may end before the test knows of its scan. */
async function publishAndStop(gateway: Gateway, code: string): Promise<number> {
  const stopped = builderOf(gateway, code).then((pid) => {
    process.kill(pid, 'SIGSTOP')
    return pid
  })
  await publish(gateway, code)
  return stopped
}

test('a builder that is killed is started again after a while, and what was built before is served meanwhile', async () => {
  const gateway = shared()
  await publish(gateway, 'once', 100)
  expect(await ended(gateway, 'once')).toMatchObject({ status: 'ready' })
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const tile = async () => (await fetch(`${gateway.url}/vectors/once/tiles/0/0/0.mvt?token=${token}`)).status
  await expect.poll(tile).toBe(200)

  const first = await publishAndStop(gateway, 'once')
  process.kill(first, 'SIGKILL')
  await builderOf(gateway, 'once', first)
  expect(await tile()).toBe(200)
  expect(await ended(gateway, 'once')).toMatchObject({ status: 'ready', message: '' })
  expect(await leftovers(buildsOf(gateway, 'once'))).toEqual([])
})

test('a builder that is killed each time leaves the reason, and builds again when it is asked to', async () => {
  const gateway = shared()
  const first = await publishAndStop(gateway, 'always')
  // As if it had been killed three times: the pauses grow up to five minutes.
  await withConnection(gateway.database.url, (sql) => sql`UPDATE vectors SET build_crashes = 3 WHERE code = 'always'`)
  process.kill(first, 'SIGKILL')
  process.kill(await builderOf(gateway, 'always', first), 'SIGKILL')
  expect(await ended(gateway, 'always')).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/memory.*set tiles to true/),
    message_code: 'vector_builder_ended',
    message_params: { count: 5, words: expect.stringContaining('SIGKILL') },
  })
  expect(await leftovers(buildsOf(gateway, 'always'))).toEqual([])

  await gateway.admin.expect<AdminVector>('/vectors/always', { method: 'PATCH', body: { tiles: true, ...LAST } })
  expect(await ended(gateway, 'always')).toMatchObject({
    status: 'ready',
    message: '',
    message_code: null,
    max_zoom: 9,
  })
})

test('a file that is replaced half-way through its build says so, and the next scan builds it', async () => {
  const gateway = shared()
  const builder = await publishAndStop(gateway, 'replaced')
  await writeSquares(gateway, 'replaced', 200)
  process.kill(builder, 'SIGCONT')
  expect(await ended(gateway, 'replaced')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('next scan'),
  })
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const download = await fetch(`${gateway.url}/vectors/replaced/download?token=${token}`)
  expect(((await download.json()) as { features: object[] }).features).toHaveLength(200)
  await gateway.admin.rescan('replaced')
  expect(await ended(gateway, 'replaced')).toMatchObject({ status: 'ready', message: '' })
  const items = await fetch(`${gateway.url}/ogc/collections/replaced/items?limit=1&token=${token}`)
  expect(await items.json()).toMatchObject({ numberMatched: 200 })
})

test('a control plane that is killed half-way through a build builds again after its restart, and leaves nothing behind', async () => {
  const gateway = shared()
  gateway.allowErrors(/ECONN|connect|terminat/i)
  const builder = await publishAndStop(gateway, 'orphaned')
  process.kill(builder, 'SIGCONT')
  await gateway.controlPlane.process.kill()
  gateway.controlPlane.process.start()
  await gateway.ready()
  expect(await ended(gateway, 'orphaned')).toMatchObject({ status: 'ready', message: '' })
  expect(await leftovers(buildsOf(gateway, 'orphaned'))).toEqual([])
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
  await publish(gateway, 'large', 10)
  expect(await ended(gateway, 'large')).toMatchObject({ status: 'ready' })
  await publish(gateway, 'large', TOO_MANY)
  const failed = await ended(gateway, 'large')
  expect(failed).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('is full'),
  })
  expect(await leftovers(join(disk.path, 'large'))).toEqual([])
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const tile = await fetch(`${gateway.url}/vectors/large/tiles/0/0/0.mvt?token=${token}`)
  expect(tile.status).toBe(200)
  await tile.arrayBuffer()
  await publish(gateway, 'large', 20)
  expect(await ended(gateway, 'large')).toMatchObject({ status: 'ready', message: '' })
  await gateway.stop()
})
