/**
 * Services of others behind the gateway, MapProxy and MapCache: tiles that are fetched, tiles that are kept, and pictures by WMS. See bench/README.md.
 *
 *   node bench/micro/services.mjs [cold kept folder maps mixed once] [--rounds 3] [--seconds 3] [--peers mapproxy,mapcache]
 *
 * Needs `npx tsc -b`, the addon, cc, and `apt-get install mapproxy gunicorn libapache2-mod-mapcache mapcache-tools apache2-bin`. Each server has one
 * processor, the load, the service and everything else the other.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { median } from '../dist/compare/summary.js'
import { shuffled } from '../dist/data/random.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { bindSelf, chooseCores, cpuSeconds, loadAverage } from '../dist/machine.js'
import { getMap, KINDS, startMapCache, startMapProxy } from '../dist/peers/caches.js'
import { startMapService } from '../dist/peers/map-service.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    peers: { type: 'string', default: 'mapproxy,mapcache' },
  },
})
const PARTS = ['cold', 'kept', 'folder', 'maps', 'mixed', 'once']
const parts = positionals.length === 0 ? PARTS : positionals
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)]
const CONNECTIONS = 64
const ZOOM = 14
const TOKENS = 4
/** Tiles of a row of the kept ones: 1,024 that are hot, and 9,216 that are five times the memory for tiles. */
const [HOT, EVEN] = [32, 96]
const MEMORY_BYTES = 28 * 1024 * 1024
const METRES = 40_075_016.685578488

const cores = chooseCores()
bindSelf(cores?.load)
const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'bench-services-'))
const run = loadGenerator()
const service = await startMapService()
const ending = [() => service.stop(), () => fs.rmSync(home, { recursive: true, force: true })]
const rows = []

const square = (side, x0 = 0, y0 = 0) =>
  Array.from({ length: side * side }, (_, i) => [x0 + (i % side), y0 + Math.floor(i / side)])

let files = 0
/** Tokens take turns, since none of them gets all places of a queue. */
const requestsOf = (peer, paths) =>
  writeRequests(
    path.join(home, `${++files}`),
    paths.map((one, i) => ({ path: one, headers: peer.headers(i) })),
  )

async function load(peer, requests, more = {}) {
  const pids = peer.pids()
  const before = cpuSeconds(pids)
  const result = await run({ port: peer.port, core: cores?.load, seconds, connections: CONNECTIONS, requests, ...more })
  const bad = Object.keys(result.statuses).filter((status) => status !== '200')
  // Apache ends some connections, which are opened again.
  if (result.failures > (peer.gateway ? 0 : result.requests / 100) || bad.length > 0)
    throw new Error(`${peer.name}: ${JSON.stringify(result.statuses)}, ${result.failures} broke`)
  return {
    rate: result.requests / result.seconds,
    micros: ((cpuSeconds(pids) - before) / result.requests) * 1e6,
    ...result,
  }
}

/** Measures servers in interleaved rounds of alternating order. `requests` returns the file for a server and a round. */
async function compare(name, peers, requests, more) {
  const samples = new Map(peers.map((peer) => [peer.name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const peer of round % 2 === 0 ? peers : [...peers].reverse()) {
      const file = await requests(peer, round)
      if (file !== null) samples.get(peer.name).push(await load(peer, file, more))
    }
  }
  const own = samples.get(peers[0].name)
  for (const [peer, found] of samples) {
    if (found.length === 0) continue
    const ratios = own.map(({ rate }, i) => rate / found[i].rate)
    const worst = (field) => Math.max(...found.map((one) => one[field]))
    // Other programs take processors away, but not processor time.
    const spared = median(own.map(({ micros }, i) => found[i].micros / micros))
    const cells = [
      name,
      peer,
      median(found.map(({ rate }) => rate)).toFixed(0),
      median(found.map(({ micros }) => micros)).toFixed(0),
      (worst('p99') / 1000).toFixed(1),
    ]
    rows.push([
      ...cells,
      ...(peer === peers[0].name
        ? ['', '']
        : [`${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)})`, spared.toFixed(2)]),
    ])
    console.error(rows.at(-1).join(' | '))
  }
}

async function startEdge(settings = {}, basemaps = []) {
  const gateway = await startGateway({ workers: 1, cores, basemaps, settings: { RENDERING: 'false', ...settings } })
  ending.unshift(() => gateway.stop())
  const tokens = await gateway.admin.issueTokens(TOKENS)
  const urls = {
    wms: `${service.url}/wms?REQUEST=GetCapabilities`,
    wmts: `${service.url}/wmts?REQUEST=GetCapabilities`,
    xyz: `${service.url}/xyz/{z}/{x}/{y}.png`,
  }
  for (const kind of KINDS) {
    const layers = kind === 'xyz' ? {} : { layers: [{ name: 'town', code: kind }] }
    await gateway.admin.scanSource({
      code: kind,
      kind: 'service',
      url: urls[kind],
      ...layers,
      options: { max_concurrent: CONNECTIONS, max_zoom: 18 },
    })
  }
  return {
    name: 'gateway',
    gateway,
    port: gateway.port,
    pids: gateway.edgePids,
    headers: (i) => [`Authorization: Bearer ${tokens[i % TOKENS].token}`],
    tilePath: (kind, z, x, y) => `/tiles/${kind}/${kind === 'folder' ? 'v1' : 'live'}/${z}/${x}/${y}.png`,
    mapPath: (kind, box) => getMap('/wms', kind, box),
  }
}

/** Asks for every path once, and sees that it is a picture. */
async function fetchAll(peer, paths, atOnce = 32) {
  const headers = (i) => Object.fromEntries(peer.headers(i).map((line) => line.split(': ')))
  const next = paths.entries()
  const one = async () => {
    for (const [i, path] of next) {
      const answer = await fetch(`http://127.0.0.1:${peer.port}${path}`, { headers: headers(i) })
      const body = Buffer.from(await answer.arrayBuffer())
      if (answer.status !== 200 || body.subarray(1, 4).toString() !== 'PNG')
        throw new Error(`${peer.name}${path}: ${answer.status} ${body.subarray(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

const tiles = (peer, kind, places, zoom = ZOOM) => places.map(([x, y]) => peer.tilePath(kind, zoom, x, y))

/** Returns tiles of which none was asked for before: blocks of 4 x 4 in any order, and their tiles in any order. */
function fresh(round, kind) {
  const blocks = shuffled(Math.random, square(48)).slice(0, kind === 'wms' ? 1200 : 900)
  return blocks.flatMap(([bx, by]) => shuffled(Math.random, square(4, 1000 + round * 256 + bx * 4, 1000 + by * 4)))
}

async function cold(peers) {
  for (const kind of KINDS)
    await compare(`cold ${kind}`, peers, (peer, round) => requestsOf(peer, tiles(peer, kind, fresh(round, kind))))
}

async function kept(peers) {
  for (const kind of ['wms', 'xyz']) {
    for (const peer of peers) await fetchAll(peer, tiles(peer, kind, square(HOT)))
    const own = new Map(
      peers.map((peer) => [peer.name, requestsOf(peer, shuffled(Math.random, tiles(peer, kind, square(HOT))))]),
    )
    await compare(`kept ${kind}`, peers, (peer) => own.get(peer.name))
  }
}

/** The same tiles as a folder, and kept of a service. */
async function folder() {
  const basemaps = path.join(home, 'basemaps')
  for (const [x, y] of square(EVEN)) {
    const dir = path.join(basemaps, `folder/v1/${ZOOM}/${x}`)
    fs.mkdirSync(dir, { recursive: true })
    fs.writeFileSync(
      path.join(dir, `${y}.png`),
      Buffer.from(await (await fetch(`${service.url}/xyz/${ZOOM}/${x}/${y}.png`)).arrayBuffer()),
    )
    if (x === 0 && y === 0) service.delay(0)
  }
  const edge = await startEdge({ TILE_MEMORY: String(MEMORY_BYTES) }, [basemaps])
  await fetchAll(edge, tiles(edge, 'xyz', square(EVEN)))
  service.delay(20)
  const bytes = fs
    .readdirSync(basemaps, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, one) => sum + fs.statSync(path.join(one.parentPath ?? one.path, one.name)).size, 0)
  console.error(`${EVEN ** 2} tiles with ${(bytes / MEMORY_BYTES).toFixed(1)} times the memory`)
  const as = (name, kind) => ({ ...edge, name, kind })
  for (const [name, side] of [
    ['hot', HOT / 2],
    ['evenly, 5 times the memory', EVEN],
  ]) {
    const peers = [as('kept', 'xyz'), as('folder', 'folder')]
    const own = new Map(
      peers.map((peer) => [peer.name, requestsOf(peer, shuffled(Math.random, tiles(peer, peer.kind, square(side))))]),
    )
    for (const peer of peers) await load(peer, own.get(peer.name))
    await compare(name, peers, (peer) => own.get(peer.name))
  }
}

/**
 * Boxes of 512 x 512 pixels at the resolution of the tiles (`pixels`; `grid`: on their grid), or at one between two zooms (`between`). They are so many
 * that none is drawn before its picture has left the memory; `again`: few, as those of a client that asks in a grid.
 */
function boxes(kind) {
  const cell = METRES / 2 ** ZOOM / 256
  const step = kind === 'between' ? cell * 1.4 : cell
  return Array.from({ length: kind === 'again' ? 100 : 1_000 }, () => {
    const at = (most) =>
      kind === 'grid' || kind === 'again'
        ? 256 * Math.floor((Math.random() * most) / 256)
        : Math.floor(Math.random() * most) + (kind === 'between' ? Math.random() : 0)
    const room = 256 * HOT - 1024
    const [left, top] = [-METRES / 2 + at(room) * cell, METRES / 2 - at(room) * cell]
    return [left, top - 512 * step, left + 512 * step, top]
  })
}

async function maps(peers) {
  for (const peer of peers) {
    await fetchAll(peer, tiles(peer, 'xyz', square(HOT)))
    await fetchAll(peer, tiles(peer, 'xyz', square(HOT / 2), ZOOM - 1))
  }
  for (const kind of ['grid', 'pixels', 'between', 'again']) {
    const all = boxes(kind)
    const own = new Map(
      peers.map((peer) => [
        peer.name,
        requestsOf(
          peer,
          all.map((box) => peer.mapPath('xyz', box)),
        ),
      ]),
    )
    await fetchAll(
      peers[0],
      boxes(kind)
        .slice(0, 8)
        .map((box) => peers[0].mapPath('xyz', box)),
      4,
    )
    await compare(`GetMap ${kind}`, peers, (peer) => own.get(peer.name), { connections: 8 })
  }
}

/** p99 of hot tiles at a fixed rate, without other requests and while 32 clients ask for pictures. */
async function mixed(edge) {
  await fetchAll(edge, tiles(edge, 'xyz', square(HOT)))
  const hot = requestsOf(edge, shuffled(Math.random, tiles(edge, 'xyz', square(HOT / 2))))
  const pictures = requestsOf(
    edge,
    boxes('between').map((box) => edge.mapPath('xyz', box)),
  )
  const found = []
  for (let round = 0; round < rounds; round++) {
    const alone = await load(edge, hot, { connections: 16, rate: 5_000 })
    const other = run({ port: edge.port, core: cores?.load, seconds: seconds + 1, connections: 32, requests: pictures })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const next = await load(edge, hot, { connections: 16, rate: 5_000 })
    const { statuses } = await other
    found.push([(next.p99 - alone.p99) / 1000, alone.p99 / 1000, next.p99 / 1000, JSON.stringify(statuses)])
  }
  found.sort(([a], [b]) => b - a)
  const [more, alone, next, statuses] = found[0]
  rows.push([
    'hot tiles next to 32 GetMap: p99 ms',
    `${alone.toFixed(2)} -> ${next.toFixed(2)}`,
    `+${more.toFixed(2)}`,
    statuses,
  ])
  console.error(rows.at(-1).join(' | '))
}

/** 1,000 requests for one missing tile of a service that takes 2 s. */
async function once(edge) {
  service.delay(2_000)
  for (const [kind, x] of [
    ['xyz', 5_000],
    ['wms', 6_000],
  ]) {
    const before = service.asked()
    await fetchAll(
      edge,
      Array.from({ length: 1_000 }, () => edge.tilePath(kind, ZOOM, x, 5_000)),
      1_000,
    )
    rows.push([`1,000 requests for a missing tile, ${kind}: requests to the service`, String(service.asked() - before)])
    console.error(rows.at(-1).join(' | '))
  }
  service.delay(20)
}

try {
  if (parts.includes('folder')) await folder()
  if (parts.some((part) => part !== 'folder')) {
    const edge = await startEdge()
    const peers = [edge]
    const starts = { mapproxy: startMapProxy, mapcache: startMapCache }
    for (const name of parts.some((part) => ['cold', 'kept', 'maps'].includes(part)) ? options.peers.split(',') : []) {
      const peer = await starts[name](service.url, cores)
      if (typeof peer === 'string') console.error(`${name} is missing: ${peer}`)
      else {
        console.error(peer.description)
        ending.unshift(() => peer.stop())
        peers.push(peer)
      }
    }
    if (parts.includes('cold')) await cold(peers)
    if (parts.includes('kept')) await kept(peers)
    if (parts.includes('maps')) await maps(peers)
    if (parts.includes('mixed')) await mixed(edge)
    if (parts.includes('once')) await once(edge)
  }
} finally {
  for (const end of ending) await end()
}
console.info(`load average ${loadAverage()}`)
console.info(
  textTable(
    ['measure', 'server', 'req/s', 'processor µs', 'p99 ms', 'gateway against it (worst)', 'by processor time'],
    rows,
  ),
)
