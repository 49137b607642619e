import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createLog } from '@gateway/core/logging/log.js'
import { type StorageDoor, startStorageDoor, type Trouble } from '@gateway/core/object-storage/testing/storage-door.js'
import { startSwift, type TestSwift } from '@gateway/core/object-storage/testing/swift.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

/** One bucket for each fault, whose source has a map of each kind. */
const TROUBLES: readonly Trouble[] = ['503', '429', 'cut', 'keys', 'clock', 'slow']
const STORAGES = { pmtiles: 'world.pmtiles', mbtiles: 'lite.mbtiles', xyz: 'folder' } as const
const KINDS = Object.keys(STORAGES) as (keyof typeof STORAGES)[]
const ABOUT = { format: 'png', bounds: [-180, -85, 180, 85], metadata: {} } as const
const TILE = randomBytes(5_000)
const [REPLACED, REMOVED] = ['replaced', 'removed']

let home: string
let swift: TestSwift
let door: StorageDoor
let running: RunningEdge
const logged: string[] = []

const bucketOf = (trouble: Trouble) => `bucket-${trouble}`

/** Each tile needs its own request, because it is larger than a block. */
async function archiveOf(tile: (x: number) => Buffer): Promise<string> {
  const file = path.join(home, 'world.pmtiles')
  const tiles = [0, 1, 2, 3].map((x) => ({ z: 2, x, y: 0, data: tile(x) }))
  await writePmtiles(file, tiles, { ...ABOUT, bounds: [...ABOUT.bounds], encoding: 'identity' })
  return file
}

beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'storage-faults-')))
  swift = await startSwift()
  door = await startStorageDoor(swift.port, swift)
  const archive = await archiveOf(() => TILE)
  const lite = path.join(home, 'lite.mbtiles')
  await writeMbtiles(lite, [{ z: 2, x: 0, y: 0, data: TILE }], { ...ABOUT, bounds: [...ABOUT.bounds], name: 'lite' })
  for (const bucket of [...TROUBLES.map(bucketOf), REPLACED, REMOVED]) {
    await swift.makeBucket(bucket)
    await swift.put(`${bucket}/world.pmtiles`, archive)
    await swift.put(`${bucket}/lite.mbtiles`, lite)
    await swift.put(`${bucket}/folder/2/0/0.png`, TILE)
  }
  const of = (bucket: string, storage: keyof typeof STORAGES) => {
    const root = `s3://${bucket}`
    const version = storedVersion('v1', { path: `${root}/${STORAGES[storage]}`, storage })
    return storedBasemap(`${bucket}-${storage}`, [version], { sourcePath: root, defaultVersion: 'v1' })
  }
  const remote = [...TROUBLES.map(bucketOf), REPLACED, REMOVED].flatMap((bucket) =>
    KINDS.map((kind) => of(bucket, kind)),
  )
  fs.mkdirSync(path.join(home, 'local/2/0'), { recursive: true })
  fs.writeFileSync(path.join(home, 'local/2/0/0.png'), TILE)
  const local = storedVersion('v1', { path: path.join(home, 'local') })
  const rows = [...remote, storedBasemap('local', [local], { sourcePath: home })]
  const log = createLog('edge', 'silent')
  log.warn = ((detail: { source?: string; err?: string }, what: string) => {
    logged.push(`${detail.source}: ${what}: ${detail.err}`)
  }) as typeof log.warn
  running = await runEdge({
    port: await freePort(),
    catalog: nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] }),
    dataDir: path.join(home, 'data'),
    controlPlane: 'http://[::1]:1',
    tileMemoryBytes: 1_024,
    log,
    env: { ...swift.environment, S3_ENDPOINT: door.url },
  })
})
afterAll(async () => {
  await running.server.drain(1)
  running.edge.tiles.closeAll()
  await door.close()
  await swift.stop()
  fs.rmSync(home, { recursive: true, force: true })
})

async function ask(code: string, place = '2/0/0') {
  const answer = await fetch(`${running.url}/tiles/${code}/v1/${place}.png`, {
    headers: { authorization: `Bearer ${running.token}` },
  })
  const body = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body }
}

async function askAll(): Promise<string[]> {
  const asked = TROUBLES.flatMap((trouble) =>
    KINDS.map(async (kind) => {
      const { status, retryAfter, body } = await ask(`${bucketOf(trouble)}-${kind}`)
      return `${trouble} ${kind}: ${status}${retryAfter === null ? '' : ` after ${retryAfter}`}${body.equals(TILE) ? ', its bytes' : ''}`
    }),
  )
  return Promise.all(asked)
}

test('for any fault of a bucket a tile has its bytes or returns 503 with Retry-After, with a log line, and recovers', async () => {
  door.troubleOf = (url) => TROUBLES.find((trouble) => url.startsWith(`/${bucketOf(trouble)}/`)) ?? 'none'
  expect(await askAll()).toEqual(
    TROUBLES.flatMap((trouble) =>
      KINDS.map((kind) => `${trouble} ${kind}: ${trouble === 'slow' ? '200, its bytes' : '503 after 5'}`),
    ),
  )
  expect((await ask('local')).status).toBe(200)
  // One line per source, for any of its maps; its circuit may have opened by then.
  expect(logged.filter((line) => line.startsWith('s3:')).sort()).toEqual([
    expect.stringMatching(
      /^s3:\/\/bucket-429: the storage of a source does not answer: (it returns 429|it has failed)/,
    ),
    expect.stringMatching(
      /^s3:\/\/bucket-503: the storage of a source does not answer: (it returns 503|it has failed)/,
    ),
    expect.stringMatching(
      /^s3:\/\/bucket-clock: the storage of a source refuses requests: the server returns 403: RequestTimeTooSkewed, /,
    ),
    expect.stringMatching(/^s3:\/\/bucket-cut: the storage of a source does not answer: /),
    expect.stringMatching(
      /^s3:\/\/bucket-keys: the storage of a source refuses requests: the server returns 403: SignatureDoesNotMatch, /,
    ),
  ])
  door.troubleOf = () => 'none'
  await expect
    .poll(askAll)
    .toEqual(TROUBLES.flatMap((trouble) => KINDS.map((kind) => `${trouble} ${kind}: 200, its bytes`)))
})

test('an archive that is replaced in a bucket between two ranges yields tiles of one content, and then of the new one', async () => {
  const code = `${REPLACED}-pmtiles`
  const of = (mark: string) => (x: number) => Buffer.alloc(300_000 + x, `${mark} ${x} `)
  const [first, second] = [of('first'), of('second')]
  await swift.put(`${REPLACED}/world.pmtiles`, await archiveOf(first))
  expect((await ask(code)).body.equals(first(0))).toBe(true)
  const next = await archiveOf(second)
  door.before = async (line) => {
    if (!line.startsWith('GET')) return
    door.before = async () => {}
    await swift.put(`${REPLACED}/world.pmtiles`, next)
  }
  for (const x of [2, 1, 3, 0]) expect((await ask(code, `2/${x}/0`)).body.equals(second(x))).toBe(true)
})

test('tiles of an archive that is removed from its bucket are served from the disk, or return 404', async () => {
  const code = `${REMOVED}-pmtiles`
  await swift.put(`${REMOVED}/world.pmtiles`, await archiveOf((x) => Buffer.alloc(300_000, x)))
  expect((await ask(code, '2/1/0')).status).toBe(200)
  await swift.remove(`${REMOVED}/world.pmtiles`)
  expect((await ask(code, '2/3/0')).status).toBe(404)
  expect((await ask(code, '2/1/0')).status).toBe(200)
})
