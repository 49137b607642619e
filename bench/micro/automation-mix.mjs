/**
 * Measures what the automation adds to the processor time of served tiles: tokens with bounds, a watched source with a schedule, and a canary of
 * another basemap, each against none of them.
 *
 *     node bench/micro/automation-mix.mjs [--rounds 7] [--seconds 3]
 *
 * Starts a Postgres, a control plane and an edge of one worker, and ends them. The tiles have 1 to 60 KB. Cases alternate within each round.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '@gateway/core/processes/readiness.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { admin, controlPort, end, home, processorSeconds, start } from './own-gateway.mjs'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, seconds: { type: 'string', default: '3' } },
})
const SIDE = 40
const ZOOM = 6
for (const [code, versions] of Object.entries({ world: ['v1'], moon: ['v1', 'v2'] }))
  for (const version of versions)
    for (let x = 0; x < SIDE; x++) {
      const folder = join(home, 'maps', code, version, String(ZOOM), String(x))
      mkdirSync(folder, { recursive: true })
      for (let y = 0; y < SIDE; y++)
        writeFileSync(join(folder, `${y}.png`), Buffer.alloc(1024 + (((x * SIDE + y) * 37) % 59_000), 7))
    }

const control = await start('control-plane', controlPort, {})
const port = await freePort()
const edge = await start('edge', port, { API_PORT: String(port) })
const source = { code: 'maps', kind: 'basemap', path: join(home, 'maps') }
await admin('POST', '/scan-sources', source)
while ((await admin('GET', '/scan-sources/maps')).last_scan?.status !== 'succeeded') {
  await admin('POST', '/scan-sources/maps/run').catch(() => {})
  await sleep(200)
}
await admin('POST', '/basemaps/moon/default-version', { version: 'v1' })

const issue = async (more) => (await admin('POST', '/tokens', { name: 'mix', basemap_codes: ['*'], ...more })).token
/** All places of the basemap, in an order without neighbours. */
const requestsOf = (name, token) => {
  const paths = Array.from({ length: SIDE * SIDE }, (_, i) => (i * 611) % (SIDE * SIDE)).map(
    (i) => `/tiles/world/v1/${ZOOM}/${Math.floor(i / SIDE)}/${i % SIDE}.png?v=1`,
  )
  return writeRequests(
    join(home, name),
    paths.map((path) => ({ path, headers: [`X-Access-Token: ${token}`] })),
  )
}
const plain = requestsOf('plain', await issue({}))
const bounded = requestsOf('bounded', await issue({ bounds: [-179, -84.9, 179, 84.9] }))
const nothing = () => {}
const CASES = {
  none: { requests: plain, begin: nothing, finish: nothing },
  'a token with bounds': { requests: bounded, begin: nothing, finish: nothing },
  'a watched source with a schedule': {
    requests: plain,
    begin: () => admin('POST', '/scan-sources', { ...source, watch: true, schedule: { every_seconds: 3600 } }),
    finish: () => admin('POST', '/scan-sources', { ...source, watch: false, schedule: null }),
  },
  'a canary of another basemap': {
    requests: plain,
    begin: () =>
      admin('POST', '/basemaps/moon/default-version', { version: 'v2', canary: { percent: 50, minutes: 60 } }),
    finish: () => admin('DELETE', '/basemaps/moon/default-switch'),
  },
}
const load = loadGenerator()
const options = { port, connections: 64, core: undefined }
for (const { requests } of Object.values(CASES)) await load({ ...options, requests, seconds: 2 })

/** Microseconds of processor time of each request: of the edge, and of all. */
const spent = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]))
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, { requests, begin, finish }] of Object.entries(CASES)) {
    await begin()
    // The scan that a change of the source causes is not measured.
    await sleep(4000)
    const before = [processorSeconds([edge]), processorSeconds([edge, control])]
    const {
      requests: count,
      failures,
      statuses,
    } = await load({ ...options, requests, seconds: Number(values.seconds) })
    if (failures > 0 || statuses['200'] !== count) throw new Error(`${name}: ${JSON.stringify(statuses)}`)
    const after = [processorSeconds([edge]), processorSeconds([edge, control])]
    spent[name].push(after.map((at, i) => ((at - before[i]) / count) * 1e6))
    await finish()
  }
}
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
for (const [name, rounds] of Object.entries(spent)) {
  const ratios = rounds.map(([ofEdge, ofAll], i) => [ofEdge / spent.none[i][0], ofAll / spent.none[i][1]])
  const [ofEdge, ofAll] = [0, 1].map((which) => ({
    microseconds: median(rounds.map((one) => one[which])).toFixed(2),
    ratio: median(ratios.map((one) => one[which])).toFixed(3),
    worst: Math.max(...ratios.map((one) => one[which])).toFixed(3),
  }))
  console.log(name, JSON.stringify({ ofEdge, ofAll }))
}
await end()
