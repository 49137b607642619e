/**
 * The realistic mix from a PMTiles archive in a bucket (a real Swift), and from the same archive on disk: requests per second, processor time of
 * the edge, and requests to the bucket, the last two also per served tile. `cold`: from an empty cache; `warm`: from the cache on disk, by an edge
 * whose memory is too small for any tile; `hot`: from memory. The last two are interleaved with the archive on disk.
 *
 *   node bench/micro/remote-mix.mjs [--rounds 5] [--seconds 3] [--out bench/results/remote-mix.md]
 *
 * Needs `npx tsc -b`, the addon, cc and Swift (as the tests). The edge has one processor, everything else the other. Takes about 40 s, plus 12 s
 * for each round of 3 s.
 */
import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startSwift } from '@gateway/core/object-storage/testing/swift.js'
import { median } from '../dist/compare/summary.js'
import { dataSet } from '../dist/data/data-set.js'
import { seededRandom } from '../dist/data/random.js'
import { sampleTraffic } from '../dist/data/traffic.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { cpuSeconds, loadAverage } from '../dist/machine.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    out: { type: 'string' },
  },
})
const ROUNDS = Number(options.rounds)
const SECONDS = Number(options.seconds)
const CONNECTIONS = 64
const COLD_SECONDS = 5
/** Time after which the most requested tiles are on disk or in memory. */
const SETTLE_SECONDS = 3
const MIX_REQUESTS = 500_000
const CORES = { server: 0, load: 1 }
const BASEMAPS = { bucket: 'mixs3', disk: 'mixpm' }

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'remote-mix-'))
const data = await dataSet()
const mix = sampleTraffic(seededRandom(randomInt(2 ** 31)), data.tiles, MIX_REQUESTS)
const swift = await startSwift()
await swift.makeBucket('maps')
await swift.put(`maps/${BASEMAPS.bucket}/v1.pmtiles`, path.join(data.basemaps, 'mixpm/v1.pmtiles'))
const generate = loadGenerator()
const rows = []

async function withGateway(settings, use) {
  const basemaps = [data.basemaps, 's3://maps']
  const gateway = await startGateway({
    workers: 1,
    cores: CORES,
    basemaps,
    settings: { ...swift.environment, ...settings },
  })
  try {
    const { token } = await gateway.admin.issueToken()
    const headers = [`Authorization: Bearer ${token}`]
    const files = Object.fromEntries(
      Object.entries(BASEMAPS).map(([where, code]) => {
        const requests = mix.map(({ z, x, y }) => ({ path: `/tiles/${code}/v1/${z}/${x}/${y}.png`, headers }))
        return [where, writeRequests(path.join(home, where), requests)]
      }),
    )
    await use((where, seconds) => sample(gateway, files[where], seconds))
  } finally {
    await gateway.stop()
  }
}

async function sample({ port, url, edgePids }, requests, seconds) {
  const before = [await storageRequests(url), cpuSeconds(edgePids())]
  const result = await generate({ port, seconds, core: CORES.load, connections: CONNECTIONS, requests })
  if (result.failures > 0 || Object.keys(result.statuses).join() !== '200') throw new Error(JSON.stringify(result))
  return {
    rate: result.requests / result.seconds,
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    micros: ((cpuSeconds(edgePids()) - before[1]) * 1e6) / result.requests,
    asked: (await storageRequests(url)) - before[0],
    requests: result.requests,
  }
}

async function storageRequests(url) {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [...text.matchAll(/^gateway_storage_requests_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}

function add(name, samples, ofDisk) {
  const middle = (field) => median(samples.map((one) => one[field]))
  const ratios = ofDisk === undefined ? [] : samples.map(({ rate }, i) => rate / ofDisk[i].rate)
  rows.push([
    name,
    middle('rate').toFixed(0),
    ratios.length > 0 ? `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)})` : '',
    middle('micros').toFixed(1),
    middle('p50').toFixed(2),
    middle('p99').toFixed(2),
    middle('asked').toFixed(0),
    (middle('asked') / middle('requests')).toFixed(4),
  ])
}

async function interleaved(name, take) {
  const samples = { bucket: [], disk: [] }
  for (const where of ['bucket', 'disk']) await take(where, SETTLE_SECONDS)
  for (let round = 0; round < ROUNDS; round++) {
    const pair = ['bucket', 'disk']
    for (const where of round % 2 === 0 ? pair : pair.reverse()) samples[where].push(await take(where, SECONDS))
  }
  add(`${name}, bucket`, samples.bucket, samples.disk)
  add(`${name}, disk`, samples.disk)
}

try {
  await withGateway({ TILE_MEMORY: '1m' }, async (take) => {
    add(`cold, bucket, first ${COLD_SECONDS} s`, [await take('bucket', COLD_SECONDS)])
    await interleaved('warm', take)
  })
  await withGateway({}, (take) => interleaved('hot', take))
} finally {
  await swift.stop()
  fs.rmSync(home, { recursive: true })
}
const head = ['the mix', 'req/s', 'of disk (worst)', 'CPU µs', 'p50 ms', 'p99 ms', 'to the bucket', 'a tile']
const text = `${data.tiles.length} tiles, ${CONNECTIONS} connections, medians of ${ROUNDS} interleaved rounds of ${SECONDS} s; load average ${loadAverage()}\n\n${textTable(head, rows)}\n`
console.info(text)
if (options.out !== undefined) {
  const command = `node bench/micro/remote-mix.mjs --rounds ${ROUNDS} --seconds ${SECONDS} --out ${options.out}`
  fs.writeFileSync(options.out, `# The mix from a bucket\n\n\`${command}\`, ${new Date().toISOString()}: ${text}`)
}
