/**
 * The cost of the standard services: WMTS capabilities and OGC collections of a token with 500 layers, and the 99th percentile of map traffic
 * (5,000 hot tiles per second) with and without 100 WMTS GetTile requests per second.
 *
 *   node bench/micro/standards.mjs [--rounds 5] [--seconds 4]
 *
 * Needs `npx tsc -b`, the addon and a C compiler. One edge process has one processor; everything else has another one if there are two.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { median } from '../dist/compare/summary.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { bindSelf, chooseCores, cpuSeconds } from '../dist/machine.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '4' } },
})
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)]
const LAYERS = 500
const DOCUMENTS = 40
const ZOOM = 5
const MIX_RATE = 5_000
const GET_TILE_RATE = 100

const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'standards-'))
const basemaps = path.join(home, 'basemaps')
const tile = await sharp({
  create: {
    width: 256,
    height: 256,
    channels: 3,
    background: '#808080',
    noise: { type: 'gaussian', mean: 128, sigma: 9 },
  },
})
  .webp({ quality: 70 })
  .toBuffer()
for (let i = 0; i < LAYERS; i++) writeTile(`layer-${i}`, '0/0/0')
const places = Array.from({ length: 4 ** ZOOM }, (_, i) => [i >> ZOOM, i & (2 ** ZOOM - 1)])
for (const [x, y] of places) writeTile('mix', `${ZOOM}/${x}/${y}`)

function writeTile(layer, place) {
  const file = path.join(basemaps, layer, `${place}.webp`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, tile)
}

const cores = chooseCores()
const gateway = await startGateway({ workers: 1, cores, basemaps: [basemaps] })
try {
  bindSelf(cores?.load)
  const { token } = await gateway.admin.issueToken()
  const documents = ['/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', '/ogc/collections', '/tms/1.0.0']
  const rows = []
  for (const document of documents) rows.push([document, ...(await timed(document, token))])
  console.log(textTable(['document', 'KB', 'first ms', 'median ms', 'worst ms'], rows))
  console.log(textTable(['requests', 'processor µs each'], await costs(token)))
  console.log(textTable(['map traffic', 'p50 µs', 'p99 µs', 'p99.9 µs'], await besideGetTile(token)))
} finally {
  await gateway.stop()
  fs.rmSync(home, { recursive: true })
}

async function timed(document, token) {
  const milliseconds = []
  let bytes = 0
  for (let i = 0; i < DOCUMENTS; i++) {
    const begun = performance.now()
    const answer = await fetch(gateway.url + document, { headers: { 'X-Access-Token': token } })
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${document} answered ${answer.status}`)
    milliseconds.push(performance.now() - begun)
  }
  const [first, ...others] = milliseconds
  return [bytes / 1000, first, median(others), Math.max(...others)].map((number) => number.toFixed(1))
}

/** Map traffic, and tiles by GetTile. */
function loads(token) {
  const headers = [`X-Access-Token: ${token}`]
  const mix = places.map(([x, y]) => ({ path: `/tiles/mix/default/${ZOOM}/${x}/${y}.webp?v=1`, headers }))
  const kvp =
    'SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=mix&STYLE=default&TILEMATRIXSET=WebMercatorQuad&FORMAT=image/webp'
  const getTile = places.map(([x, y]) => ({
    path: `/wmts?${kvp}&TILEMATRIX=${ZOOM}&TILEROW=${y}&TILECOL=${x}`,
    headers,
  }))
  const common = { port: gateway.port, seconds, core: cores?.load }
  const mixLoad = { ...common, connections: 32, rate: MIX_RATE, requests: writeRequests(path.join(home, 'mix'), mix) }
  const kvpLoad = {
    ...common,
    connections: 4,
    rate: GET_TILE_RATE,
    requests: writeRequests(path.join(home, 'kvp'), getTile),
  }
  return { mixLoad, kvpLoad }
}

/** Measures processor time of the edge's processes, which is more reliable than elapsed time on a busy machine. */
async function costs(token) {
  const run = loadGenerator()
  const { mixLoad, kvpLoad } = loads(token)
  const each = async (name, load) => {
    await run({ ...load, seconds: 1 })
    const before = cpuSeconds(gateway.edgePids())
    const { requests } = await run(load)
    return [name, (((cpuSeconds(gateway.edgePids()) - before) / requests) * 1e6).toFixed(1)]
  }
  return [await each('tiles', mixLoad), await each('GetTile', { ...kvpLoad, connections: 32, rate: MIX_RATE })]
}

/** Alternates rounds with and without GetTile. */
async function besideGetTile(token) {
  const run = loadGenerator()
  const { mixLoad, kvpLoad } = loads(token)
  const found = { alone: [], 'beside GetTile': [], GetTile: [] }
  await run(mixLoad)
  for (let round = 0; round < rounds; round++) {
    const turns = [
      async () => found.alone.push(await run(mixLoad)),
      async () => {
        const [beside, tiles] = await Promise.all([run(mixLoad), run(kvpLoad)])
        found['beside GetTile'].push(beside)
        found.GetTile.push(tiles)
      },
    ]
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn()
  }
  for (const result of Object.values(found).flat()) {
    if (result.failures > 0 || Object.keys(result.statuses).some((status) => status !== '200'))
      throw new Error(`answers were ${JSON.stringify(result.statuses)}, ${result.failures} requests failed`)
  }
  return Object.entries(found).map(([name, results]) => [
    name,
    ...['p50', 'p99', 'p999'].map((figure) => median(results.map((result) => result[figure])).toFixed(0)),
  ])
}
