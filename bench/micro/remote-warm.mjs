/**
 * The same PMTiles archive on disk and behind HTTP, in an edge whose memory is too small for any tile: requests per second, processor time, and
 * requests to the storage. `first`: each tile once, with an empty cache; `restart`: each tile once, by a new process with the cache of the
 * previous one; `warm`: evenly, interleaved with the archive on disk.
 *
 *   node bench/micro/remote-warm.mjs [--rounds 5] [--seconds 3] [--kilobytes 8]
 *
 * Needs `npx tsc -b`, the addon, nginx and cc. The edge has one processor, the load the other.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { dieWithParent } from '@gateway/core/processes/confinement.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { median } from '../dist/compare/summary.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { loadAverage } from '../dist/machine.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    kilobytes: { type: 'string', default: '8' },
  },
})
const ZOOM = 7
const CONNECTIONS = 32
const MICROSECONDS_A_TICK = 10_000
const EDGE = new URL('../../services/edge/dist/testing/edge-process.js', import.meta.url).pathname

const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'remote-warm-'))
const files = path.join(home, 'files')
fs.mkdirSync(files)
const tiles = Array.from({ length: 4 ** ZOOM }, (_, i) => {
  const bytes = 500 + ((i * 7_919) % 1_000) * 2 * Number(options.kilobytes)
  return { z: ZOOM, x: i >> ZOOM, y: i & (2 ** ZOOM - 1), data: Buffer.alloc(bytes, `${i} `) }
})
/** @type {import('@gateway/tilesets/tile-to-write.js').PmtilesDescription} */
const about = { format: 'png', encoding: 'identity', bounds: [-180, -85, 180, 85], metadata: {} }
await writePmtiles(path.join(files, 'world.pmtiles'), tiles, about)
const log = path.join(home, 'access.log')
const storagePort = await freePort()
const conf = path.join(home, 'nginx.conf')
const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/${kind};`)
fs.writeFileSync(
  conf,
  `daemon off; master_process off; pid ${home}/nginx.pid; error_log stderr; events {}
   http { access_log ${log}; ${scratch.join(' ')} server { listen 127.0.0.1:${storagePort}; root ${files}; } }`,
)
/** Starts a process that always ends with this one. */
function start(words, stdio) {
  const [command, ...args] = [...dieWithParent('KILL'), ...words]
  return spawn(command, args, { stdio })
}
const nginx = start(['nginx', '-p', home, '-c', conf], 'ignore')
const address = `http://127.0.0.1:${storagePort}/world.pmtiles`
const countRequests = () => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').length : 0)
while (
  !(await fetch(address, { method: 'HEAD' }).then(
    () => true,
    () => false,
  ))
)
  await sleep(20)
const generate = loadGenerator()

async function startEdge(archive, dataDir) {
  fs.mkdirSync(dataDir, { recursive: true })
  const tokenFile = path.join(dataDir, 'token')
  fs.rmSync(tokenFile, { force: true })
  const port = await freePort()
  const edge = start(['taskset', '-c', '0', process.execPath, EDGE, String(port), archive, dataDir], 'inherit')
  while (!fs.existsSync(tokenFile)) await sleep(20)
  const headers = [`Authorization: Bearer ${fs.readFileSync(tokenFile, 'utf8')}`]
  const at = ({ z, x, y }) => ({ path: `/tiles/world/v1/${z}/${x}/${y}.png`, headers })
  const shuffled = [...tiles].sort(() => Math.random() - 0.5)
  return { edge, port, headers, requests: writeRequests(path.join(dataDir, 'requests'), shuffled.map(at)) }
}

const ticksOf = ({ edge }) =>
  fs
    .readFileSync(`/proc/${edge.pid}/stat`, 'utf8')
    .split(') ')[1]
    .split(' ')
    .slice(11, 13)
    .reduce((sum, n) => sum + Number(n), 0)

async function measure(running) {
  const before = ticksOf(running)
  const result = await generate({ ...running, connections: CONNECTIONS, seconds: Number(options.seconds), core: 1 })
  const micros = ((ticksOf(running) - before) * MICROSECONDS_A_TICK) / result.requests
  if (result.failures > 0 || Object.keys(result.statuses).join() !== '200') throw new Error(JSON.stringify(result))
  return { rate: result.requests / result.seconds, micros, p99: result.p99 }
}

/** Reads each tile once; returns the requests to the storage per tile. */
async function readOnce({ port, headers }) {
  const authorization = headers[0].slice('Authorization: '.length)
  const begun = [countRequests(), performance.now()]
  const next = tiles.values()
  const one = async () => {
    for (const { z, x, y, data } of next) {
      const answer = await fetch(`http://127.0.0.1:${port}/tiles/world/v1/${z}/${x}/${y}.png`, {
        headers: { authorization },
      })
      if (!Buffer.from(await answer.arrayBuffer()).equals(data)) throw new Error(`${z}/${x}/${y} is wrong`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, one))
  return [(countRequests() - begun[0]) / tiles.length, tiles.length / ((performance.now() - begun[1]) / 1000)]
}

async function stop({ edge }) {
  edge.kill('SIGKILL')
  await once(edge, 'exit')
}

const dataDir = path.join(home, 'remote')
let remote = await startEdge(address, dataDir)
const first = await readOnce(remote)
await sleep(1_000)
await stop(remote)
remote = await startEdge(address, dataDir)
const restart = await readOnce(remote)
const local = await startEdge(path.join(files, 'world.pmtiles'), path.join(home, 'local'))
await readOnce(local)
const samples = { local: [], remote: [] }
for (let round = 0; round < Number(options.rounds); round++) {
  const pair = [
    ['local', local],
    ['remote', remote],
  ]
  for (const [name, running] of round % 2 === 0 ? pair : pair.reverse()) samples[name].push(await measure(running))
}
const middle = (name, field) => median(samples[name].map((sample) => sample[field]))
const ratios = samples.remote.map(({ rate }, i) => rate / samples.local[i].rate)
console.info(`load average ${loadAverage()}`)
console.info(`first: ${first[0].toFixed(3)} requests to the storage a tile; restart: ${restart[0].toFixed(4)}`)
console.info(
  textTable(
    ['warm', 'req/s', 'µs', 'p99 µs'],
    [
      ...['local', 'remote'].map((name) => [
        name,
        middle(name, 'rate').toFixed(0),
        middle(name, 'micros').toFixed(1),
        middle(name, 'p99').toFixed(0),
      ]),
    ],
  ),
)
console.info(`remote to local: ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`)
await Promise.all([stop(local), stop(remote)])
nginx.kill()
fs.rmSync(home, { recursive: true })
