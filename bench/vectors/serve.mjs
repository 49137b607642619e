// Compares vector tiles of a catalogued vector with nginx on the same tiles as files, by the method of `npm run bench:compare`.
//   node bench/vectors/serve.mjs [--polygons 200000] [--rounds 7] [--seconds 3]
// Needs GDAL, nginx-light, a C compiler and `npx tsc -b`. One edge process on one processor, the load on another. Hot: 300 tiles, which the edge
// has in memory. Cold: all tiles in turn, of which the edge has at most a fifth in memory; the archive and the files are in the page cache.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { median } from '../dist/compare/summary.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { bindSelf, chooseCores, cpuSeconds } from '../dist/machine.js'
import { startDaemon } from '../dist/peers/peer.js'
import { textTable } from '../dist/report/text-table.js'
import { vectorFile } from './data.mjs'

const { values } = parseArgs({
  options: {
    polygons: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const CONNECTIONS = 32
const HOT_TILES = 300
/** Memory of the edge for tiles: a fifth of those of 200,000 polygons. */
const MEMORY_BYTES = 6_000_000
const VECTOR = 'polygons'

const home = mkdtempSync(join(tmpdir(), 'vector-serve-'))
const cores = chooseCores()
const vectors = dirname(vectorFile('polygons', Number(values.polygons)))
const run = loadGenerator()
const rows = []

/** Returns the status and the body as it is sent, which fetch would unpack. */
function stored(url, headers) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers: { ...headers, 'Accept-Encoding': 'gzip' } }, async (answer) => {
      const parts = []
      for await (const part of answer) parts.push(part)
      resolve({ status: answer.statusCode, body: Buffer.concat(parts) })
    })
    request.once('error', reject)
  })
}

function tileAt(zoom, longitude, latitude) {
  const [n, angle] = [2 ** zoom, (latitude * Math.PI) / 180]
  const row = Math.floor(((1 - Math.log(Math.tan(angle) + 1 / Math.cos(angle)) / Math.PI) / 2) * n)
  return [Math.floor(((longitude + 180) / 360) * n), row]
}

/** Writes all tiles of the vector as files, and returns their paths and bytes. */
async function writeTiles(url, headers) {
  const { minzoom, maxzoom, bounds } = JSON.parse((await stored(`${url}/tilejson.json`, headers)).body)
  const tiles = []
  for (let z = minzoom; z <= maxzoom; z++) {
    const [west, north] = tileAt(z, bounds[0], bounds[3])
    const [east, south] = tileAt(z, bounds[2], bounds[1])
    for (let x = west; x <= east; x++) {
      mkdirSync(join(home, `tiles/${z}/${x}`), { recursive: true })
      for (let y = north; y <= south; y++) {
        const path = `${z}/${x}/${y}.mvt`
        const { status, body } = await stored(`${url}/tiles/${path}`, headers)
        if (status !== 200) continue
        writeFileSync(join(home, 'tiles', path), body)
        tiles.push({ path, bytes: body.length })
      }
    }
  }
  return tiles
}

const nginx = () =>
  startDaemon({
    name: 'nginx',
    cores,
    ready: ['/missing', 404],
    command: (config, dir) => ['nginx', '-p', dir, '-e', 'stderr', '-c', config],
    configuration: (
      port,
    ) => `daemon off; pid nginx.pid; worker_processes 1; ${process.getuid() === 0 ? 'user root;' : ''}
      worker_rlimit_nofile 20000; events { worker_connections 4096; }
      http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
        open_file_cache max=20000 inactive=600s; open_file_cache_valid 10s; open_file_cache_min_uses 1;
        server { listen 127.0.0.1:${port};
          location / { alias ${home}/tiles/; default_type application/vnd.mapbox-vector-tile; add_header Content-Encoding gzip; } } }`,
  })

async function measured(server, requests) {
  const before = cpuSeconds(server.pids())
  const result = await run({ port: server.port, core: cores?.load, seconds, connections: CONNECTIONS, requests })
  if (result.failures > 0 || Object.keys(result.statuses).some((status) => status !== '200'))
    throw new Error(`answers were ${JSON.stringify(result.statuses)}, ${result.failures} requests failed`)
  return { rate: result.requests / result.seconds, cpu: (cpuSeconds(server.pids()) - before) / result.requests }
}

async function compared(name, tiles, edge, files) {
  const requests = [
    writeRequests(
      join(home, `${name}-edge`),
      tiles.map(({ path }) => ({ path: `/vectors/${VECTOR}/tiles/${path}`, headers: edge.headers })),
    ),
    writeRequests(
      join(home, `${name}-files`),
      tiles.map(({ path }) => ({ path: `/${path}`, headers: [] })),
    ),
  ]
  const servers = [edge, files]
  for (const i of [0, 1]) await measured(servers[i], requests[i])
  const [rates, ratios, cpu] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const taken = []
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) taken[i] = await measured(servers[i], requests[i])
    rates.push(taken[0].rate)
    ratios.push(taken[0].rate / taken[1].rate)
    cpu.push(taken[0].cpu / taken[1].cpu)
  }
  const bytes = tiles.reduce((sum, tile) => sum + tile.bytes, 0)
  rows.push([
    ...[name, String(tiles.length), (bytes / tiles.length / 1000).toFixed(1), String(Math.round(median(rates)))],
    ...[median(ratios), Math.min(...ratios), median(cpu)].map((number) => number.toFixed(2)),
  ])
}

const settings = { TILE_MEMORY: String(MEMORY_BYTES) }
const gateway = await startGateway({ workers: 1, cores, vectors, settings })
let files = null
try {
  for (;;) {
    const { tiles } = await gateway.admin.call(`/vectors/${VECTOR}`)
    if (tiles.status === 'ready') break
    if (tiles.status === 'failed') throw new Error(tiles.message)
    await sleep(500)
  }
  const { token } = await gateway.admin.issueToken()
  const headers = { 'X-Access-Token': token }
  const url = `${gateway.url}/vectors/${VECTOR}`
  while ((await stored(`${url}/tilejson.json`, headers)).status !== 200) await sleep(100)
  const tiles = await writeTiles(url, headers)
  bindSelf(cores?.load)
  files = await nginx()
  const edge = {
    port: gateway.port,
    pids: () => gateway.edgePids(),
    headers: [`X-Access-Token: ${token}`, 'Accept-Encoding: gzip'],
  }
  await compared(
    'hot',
    tiles.filter((_, i) => i % Math.ceil(tiles.length / HOT_TILES) === 0),
    edge,
    files,
  )
  await compared('cold', tiles, edge, files)
  console.log(
    `${rounds} interleaved rounds of ${seconds} s, ${CONNECTIONS} connections, ${cpus()[0]?.model.trim()}, Node ${process.version}`,
  )
  console.log(
    textTable(['tiles', 'count', 'mean kB', 'req/s', 'of nginx', 'worst round', 'processor time of nginx'], rows),
  )
} finally {
  await files?.stop()
  await gateway.stop()
  rmSync(home, { recursive: true, force: true })
}
