import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Admin } from '../harness/admin.js'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { makeMbtiles, makePmtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson, makeShapefile } from '../harness/fixtures/vectors.js'
import type { ServiceProcess } from '../harness/service-process.js'
import { printed, StartHome, terminate } from '../harness/start-command.js'
import { ALL, type Soaked, SPREAD, TARGETS, tiles } from './churn.js'
import { options, say, seeded } from './options.js'
import { Tally } from './tally.js'
import { databaseConnections, LASTING_ROLES, type Usage, usageBelow, workersBelow } from './usage.js'

const SAMPLE_MS = 5_000
/** Time after which memory may not grow: caches have filled, and the heap of each worker, which may double between two collections, has been full once. */
const SETTLED_MINUTES = 10
/** Length of a window. Memory rises until garbage collection, so each window contains a peak, and peaks are compared. */
const WINDOW_MS = 120_000
const MAX_GROWTH = 1.05
const ADMIN_TOKEN = 'soak-admin-token'
const KILL_EVERY_MS = 2_500

interface Sample {
  readonly atMs: number
  readonly roles: ReadonlyMap<string, Usage>
  readonly connections: number
}

let home: StartHome
let start: ServiceProcess
const random = seeded(options.seed)

/** Accepts all deliveries, refuses those below /failing, and never responds below /silent. */
const receiver = createServer((incoming, response) => {
  if (incoming.url?.startsWith('/silent')) return void incoming.resume()
  incoming.resume().on('end', () => response.writeHead(incoming.url?.startsWith('/failing') ? 500 : 200).end('so'))
})

beforeAll(async () => {
  home = await StartHome.make()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const world = join(home.dir, 'maps/world')
  await makeTileFolder(join(world, 'v1'), { maxZoom: 3 })
  await makeTileFolder(join(world, 'v2'), { maxZoom: 3, shade: 50 })
  await makeMbtiles(join(world, 'packed.mbtiles'), { maxZoom: 3 })
  await makePmtiles(join(world, 'single.pmtiles'), { maxZoom: 3 })
  await makeGeojson(join(home.dir, 'vectors/large.geojson'), 60_000)
  await makeGeojson(join(home.dir, 'vectors/small.geojson'), 10)
  await makeShapefile(join(home.dir, 'vectors/shape.shp'), 5_000)
  for (const [i, name] of ['a', 'b', 'c'].entries()) {
    const bounds = [5 + i, 45, 11 + i, 51] as const
    await makeGeotiff(join(home.dir, `images/${name}.tif`), { bounds, colour: { r: 9 + i, g: 99, b: 199 }, size: 512 })
  }
  start = home.run('start', { DEMO: 'false', ADMIN_TOKEN, RETRY_WAITS: '1,1,1', CALLBACK_ALLOW: '127.0.0.0/8' })
  await printed(start)
  await mkdir(join(home.dir, 'pushed'))
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await home.remove()
})

async function prepare(admin: Admin, address: string): Promise<void> {
  await admin.scanSource('maps', 'basemap', join(home.dir, 'maps'))
  await admin.scanSource('vectors', 'vector', join(home.dir, 'vectors'))
  const urls: Record<string, string> = { refusing: 'http://127.0.0.1:1/' }
  for (const code of TARGETS) {
    const place =
      code === 'folder'
        ? { kind: 'directory', path: join(home.dir, 'pushed') }
        : { kind: 'http', url: urls[code] ?? `${address}/${code}` }
    await admin.expect('/targets', { body: { code, mode: code === 'refusing' ? 'notify' : 'upload', ...place } })
  }
  const { token } = await admin.issueToken({ basemap_codes: ['*'] })
  for (const version of SPREAD) {
    for (;;) {
      const { status } = await fetch(`${home.url}/tiles/world/${version}/0/0/0.png?token=${token}`)
      if (status === 200) break
      await sleep(50)
    }
  }
}

test('a gateway under load and churn neither grows nor sends wrong responses', {
  timeout: (options.minutes + 10) * 60_000,
}, async () => {
  const { minutes, rate, seed, killWorkers } = options
  say(`soak: ${minutes} minutes, ${rate} tiles a second, seed ${seed}${killWorkers ? ', workers are killed' : ''}`)
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const admin = new Admin(home.url, ADMIN_TOKEN)
  await prepare(admin, address)
  const endAt = Date.now() + minutes * 60_000
  const tally = new Tally(killWorkers)
  const running = () => Date.now() < endAt && start.running
  const soaked: Soaked = { url: home.url, admin, home: home.dir, receiver: address, tally, random, running }
  const samples: Sample[] = []
  const startedAt = Date.now()
  const sampling = (async () => {
    while (running()) {
      await sleep(SAMPLE_MS)
      const atMs = Date.now() - startedAt
      samples.push({ atMs, roles: usageBelow(start.pid), connections: databaseConnections(start.pid) })
      if (samples.length % 12 === 0) say(line(samples.at(-1) as Sample))
    }
  })()
  await Promise.all([
    sampling,
    ...[tiles(rate), ...ALL].map((churn) => churn(soaked)),
    killWorkers ? kill(soaked) : null,
  ])
  say(tally.text())
  const growths = table(samples)
  if (!start.running) tally.problem('the gateway ended by itself')
  for (const { raw } of start.lines
    .filter(({ json }) => json?.level === 'error' || json?.level === 'fatal')
    .slice(0, 20))
    say(`log: ${raw}`)
  await terminate(start)
  expect(await home.left(), 'left behind').toEqual([])
  expect(tally.problems).toEqual([])
  if (!killWorkers && minutes > SETTLED_MINUTES) expect(growths).toEqual([])
})

/** Kills workers in sequence; each must be replaced before the next one. */
async function kill({ tally, random: chance, running }: Soaked): Promise<void> {
  let kills = 0
  while (running()) {
    await sleep(KILL_EVERY_MS)
    const workers = workersBelow(start.pid)
    const worker = workers[Math.floor(chance() * workers.length)]
    if (worker === undefined || workers.length < 2) continue
    process.kill(worker, 'SIGKILL')
    kills++
  }
  tally.answer(`${kills} workers killed`, 0, [0])
}

function line({ atMs, roles, connections }: Sample): string {
  const parts = [...roles].map(([role, usage]) => `${role} ${usage.pss.toFixed(0)} MB`)
  return `${(atMs / 60_000).toFixed(1)} min: ${parts.join(', ')}; ${connections} database connections`
}

/** Prints the usage after it had settled and at the end; returns the roles whose memory grew. */
function table(samples: readonly Sample[]): string[] {
  const end = samples.at(-1)?.atMs ?? 0
  const settled = Math.min(SETTLED_MINUTES * 60_000, end / 2)
  const until = (to: number) => samples.filter(({ atMs }) => atMs <= to && atMs > to - WINDOW_MS)
  const [early, late] = [until(settled), until(end)]
  const grown: string[] = []
  const row = (name: string, of: (sample: Sample) => number | undefined, judged: boolean) => {
    const [before, after] = [highest(early.map(of)), highest(late.map(of))]
    const growth = after / before
    if (judged && growth > MAX_GROWTH) grown.push(`${name}: ${before.toFixed(1)} -> ${after.toFixed(1)}`)
    const percent = Number.isFinite(growth) ? `${((growth - 1) * 100).toFixed(1)} %` : ''
    say(`${name.padEnd(32)} ${before.toFixed(1).padStart(9)} ${after.toFixed(1).padStart(9)} ${percent.padStart(9)}`)
  }
  say(`${''.padEnd(32)} ${`min ${(settled / 60_000).toFixed(1)}`.padStart(9)} ${'end'.padStart(9)}`)
  for (const role of LASTING_ROLES) {
    const of = (field: keyof Usage) => (sample: Sample) => sample.roles.get(role)?.[field]
    // Shared pages count more as soon as another process that shares them ends, and the shared buffers of Postgres fill up to a fixed size.
    row(`${role}, PSS MB`, of('pss'), false)
    row(`${role}, anonymous MB`, of('anonymous'), true)
    row(`${role}, RSS MB`, of('rss'), false)
    row(`${role}, processes`, of('processes'), false)
    row(`${role}, descriptors`, of('files'), false)
    row(`${role}, threads`, of('threads'), false)
  }
  row('database connections', ({ connections }) => connections, false)
  return grown
}

function highest(numbers: readonly (number | undefined)[]): number {
  return Math.max(0, ...numbers.filter((number) => number !== undefined))
}
