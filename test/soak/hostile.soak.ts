import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lowerPriority, NICE } from '@gateway/core/processes/priority.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Admin } from '../harness/admin.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import { readProc } from '../harness/processes.js'
import type { ServiceProcess } from '../harness/service-process.js'
import { printed, StartHome, terminate } from '../harness/start-command.js'
import { uploads, writeMaps, writeStyles, writeVectors } from './hostile-inputs.js'
import { options, say } from './options.js'
import { LASTING_ROLES, lastingBelow, toolsBelow } from './usage.js'

/** Limits of the requirement: growth of a lasting process, the other client's p99, and the time after which nothing is left. */
const MAX_GROWTH_MB = 300
const MAX_RATIO = 2
const GONE_WITHIN_MS = 60_000
const BASELINE_MS = 20_000
const LOOK_MS = 500
/** Requests of the greedy token at once, for each of its addresses. */
const GREEDY = 3
const ADMIN_TOKEN = 'soak-admin-token'

let home: StartHome
let start: ServiceProcess
beforeAll(async () => {
  home = await StartHome.make()
  await makeTileFolder(join(home.dir, 'maps/world/v1'), { maxZoom: 5 })
  await makeTileFolder(join(home.dir, 'maps/world/v2'), { maxZoom: 5, shade: 50 })
  await makeGeojson(join(home.dir, 'vectors/large.geojson'), 60_000)
  await writeMaps(join(home.dir, 'bad-maps'))
  await writeVectors(join(home.dir, 'bad-vectors'))
  await writeStyles(join(home.dir, 'bad-styles'))
  start = home.run('start', { DEMO: 'false', ADMIN_TOKEN })
  await printed(start)
}, 600_000)
afterAll(() => home.remove())

/** The most expensive requests of a token that may read everything. */
const EXPENSIVE = [
  '/ogc/collections/large/items?limit=10000',
  '/ogc/collections/large/items?limit=10000&f=csv',
  '/ogc/collections/large/items?limit=10000&f=fgb',
  "/ogc/collections/large/items?limit=10000&filter=name%20LIKE%20'%2599%25'",
  '/vectors/large.gpkg',
  '/vectors/large.zip?crs=EPSG:3857',
  '/arcgis/rest/services/world/MapServer/tilemap/5/0/0/32/32',
  '/api/v1/catalog/basemaps/world/changes?from=v1&to=v2',
  '/styles/many/sprite@2x.png',
  '/fonts/Noto%20Sans%20Regular/19968-20223.pbf',
]

interface TileTimes {
  p50: number
  p99: number
  failures: number
  asked: number
}
/** Starts a client that asks for tiles in a separate process. The function that is returned ends it and gives its times in ms. */
function askForTiles(token: string): () => Promise<TileTimes> {
  // The client leads a separate session, so that the other clients, which belong to other machines, take no share of its processor time.
  const client = fork(join(import.meta.dirname, 'tile-client.mjs'), [home.url, token], { execArgv: [], detached: true })
  return async () => {
    const times = once(client, 'message') as Promise<[TileTimes]>
    client.send('end')
    return (await times)[0]
  }
}

/** The files that builds, imports and scans leave while they work. */
function unfinished(): string[] {
  const names = readdirSync(home.dataDir, { recursive: true }) as string[]
  return names.filter((name) => /^(?:imports|vector-builds|scans)\//.test(name) && /\.tmp$|^scans\/scan-/.test(name))
}

test('the most expensive requests of a token and hostile uploads neither end nor grow a process, nor stop another client', {
  timeout: (options.minutes + 60) * 60_000,
}, async () => {
  const admin = new Admin(home.url, ADMIN_TOKEN)
  await admin.scanSource('maps', 'basemap', join(home.dir, 'maps'))
  await admin.scanSource('vectors', 'vector', join(home.dir, 'vectors'))
  const { token } = await admin.issueToken({ basemap_codes: ['*'] })
  const { token: greedy } = await admin.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })
  const packed = await uploads()
  const endQuiet = askForTiles(token)
  await sleep(BASELINE_MS)
  const before = await endQuiet()

  const first = lastingBelow(start.pid)
  const peaks = new Map<number, number>()
  const looks = setInterval(() => {
    for (const [pid] of lastingBelow(start.pid))
      peaks.set(pid, Number(/^VmHWM:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1] ?? 0) / 1024)
  }, LOOK_MS)

  const until = Date.now() + options.minutes * 60_000
  const statuses = new Map<string, number>()
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(home.url + path, init).catch((error: Error) => error)
    if (answer instanceof Response) await answer.arrayBuffer().catch(() => {})
    const key = `${path.split('?')[0]} ${answer instanceof Response ? answer.status : answer.message}`
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
  }
  const repeat = async (work: () => Promise<void>) => {
    while (Date.now() < until) await work()
  }
  const reader = { headers: { 'x-access-token': greedy, 'accept-encoding': 'gzip' } }
  const operator = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/zip' }
  const scans = ['maps', 'vectors', 'styles'].map((kind) =>
    admin
      .scanSource(
        `bad-${kind}`,
        kind.replace(/s$/, '').replace('map', 'basemap') as 'basemap',
        join(home.dir, `bad-${kind}`),
      )
      .catch((error: Error) => say(`scan of ${kind}: ${error.message}`)),
  )
  const endMeanwhile = askForTiles(token)
  // The greedy clients belong to other machines, so they must not take processor time from the gateway.
  lowerPriority(NICE.background)
  const greed = EXPENSIVE.flatMap((path) => Array.from({ length: GREEDY }, () => repeat(() => ask(path, reader))))
  const imports = packed.map((body, i) =>
    repeat(() => ask(`/api/v1/admin/styles/import?code=upload-${i}`, { method: 'POST', body, headers: operator })),
  )
  await Promise.all([...greed, ...imports, ...scans])
  const during = await endMeanwhile()
  const notBuilt = async () => {
    const { items } = await admin.expect<{ items: { tiles: { status: string } }[] }>('/vectors?limit=100')
    return items.filter(({ tiles }) => /queued|building|running|pending/.test(tiles.status)).length
  }
  while ((await notBuilt()) > 0) await sleep(LOOK_MS)
  const goneBy = Date.now() + GONE_WITHIN_MS
  while (Date.now() < goneBy && (toolsBelow(start.pid).length > 0 || unfinished().length > 0)) await sleep(LOOK_MS)
  clearInterval(looks)

  for (const [key, count] of [...statuses].sort()) say(`  ${key.padEnd(70)} ${count}`)
  const growth = [...peaks].map(([pid, peak]) => ({
    pid,
    role: first.get(pid)?.role,
    grown: peak - (first.get(pid)?.mb ?? 0),
  }))
  for (const { role, grown } of growth) say(`  ${role}: grown by ${grown.toFixed(0)} MB`)
  say(`  tiles, p50: ${before.p50.toFixed(1)} ms before, ${during.p50.toFixed(1)} ms meanwhile`)
  say(`  tiles, p99: ${before.p99.toFixed(1)} ms before, ${during.p99.toFixed(1)} ms meanwhile (${during.asked} tiles)`)
  expect([...lastingBelow(start.pid).keys()], LASTING_ROLES.join()).toEqual([...first.keys()])
  expect(growth.filter(({ grown }) => grown > MAX_GROWTH_MB)).toEqual([])
  expect(during.failures).toBe(0)
  expect({ tools: toolsBelow(start.pid), files: unfinished() }).toEqual({ tools: [], files: [] })
  expect(during.p99 / before.p99).toBeLessThanOrEqual(MAX_RATIO)
  await terminate(start)
  expect(await home.left(), 'left behind').toEqual([])
})
