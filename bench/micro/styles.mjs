/**
 * Measures the parts of a map other than tiles: `style.json` and a glyph range from memory, each against one hot tile of the same size.
 *
 *   node bench/micro/styles.mjs [--rounds 7] [--seconds 3]
 *
 * Needs `npx tsc -b`, the addon and a C compiler. One edge process on one processor, the load on another where there are two. The exit code is
 * 3 if a median misses the goal.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { median } from '../dist/compare/summary.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { bindSelf, chooseCores, cpuSeconds } from '../dist/machine.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, seconds: { type: 'string', default: '3' } },
})
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)]
const GOAL = 0.9
const CONNECTIONS = 32
/** Layers of the style: its document has some 13 kB, as a tile of a map has. */
const LAYERS = 60

const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'styles-'))
const write = (name, content) => {
  fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true })
  fs.writeFileSync(path.join(home, name), content)
}
const layers = Array.from({ length: LAYERS }, (_, i) => ({
  id: `layer ${i}`,
  type: 'line',
  source: 'world',
  'source-layer': `roads-${i}`,
  paint: { 'line-color': '#3b6ea5', 'line-width': ['interpolate', ['linear'], ['zoom'], 5, 0.5, 18, 8] },
}))
const sources = { world: { type: 'vector', url: 'gateway://basemaps/world' } }
write('styles/city/style.json', JSON.stringify({ version: 8, glyphs: 'gateway://fonts', sources, layers }))
const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#446' } })
  .png()
  .toBuffer()
write('basemaps/world/v1/0/0/0.png', image)

const cores = chooseCores()
const gateway = await startGateway({ workers: 1, cores, basemaps: [path.join(home, 'basemaps')] })
try {
  bindSelf(cores?.load)
  await gateway.admin.scan('styles', 'style', path.join(home, 'styles'))
  const { token } = await gateway.admin.issueToken()
  const headers = { 'X-Access-Token': token, 'Accept-Encoding': 'identity' }
  const parts = {
    'style.json': '/styles/city/style.json',
    'a glyph range': '/fonts/Noto%20Sans%20Regular/1024-1279.pbf',
  }
  const rows = []
  const sizes = {}
  for (const [name, target] of Object.entries(parts)) {
    const answer = await fetch(gateway.url + target, { headers })
    if (answer.status !== 200) throw new Error(`${target} answered ${answer.status}`)
    sizes[name] = (await answer.arrayBuffer()).byteLength
    const padding = Buffer.alloc(Math.max(0, sizes[name] - image.length), 7)
    write(`sized/as-${sizes[name]}/v1/0/0/0.png`, Buffer.concat([image, padding]))
  }
  await gateway.admin.scan('sized', 'basemap', path.join(home, 'sized'))
  for (const [name, target] of Object.entries(parts)) {
    const tile = `/tiles/as-${sizes[name]}/v1/0/0/0.png`
    // The edge learns of it a moment after the scan.
    while ((await fetch(gateway.url + tile, { headers })).status !== 200) await sleep(50)
    rows.push([name, String(sizes[name]), ...(await compared(target, tile, headers))])
  }
  console.log(
    `${rounds} interleaved rounds of ${seconds} s, ${CONNECTIONS} connections, ${os.cpus()[0]?.model.trim()}, Node ${process.version}`,
  )
  console.log(textTable(['part', 'bytes', 'req/s', 'of a tile', 'worst round', 'processor time of a tile'], rows))
  process.exitCode = rows.every(([, , , ratio]) => Number(ratio) >= GOAL) ? 0 : 3
} finally {
  await gateway.stop()
  fs.rmSync(home, { recursive: true })
}

async function compared(part, tile, headers) {
  const run = loadGenerator()
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const loads = [part, tile].map((target, i) => ({
    port: gateway.port,
    core: cores?.load,
    seconds,
    connections: CONNECTIONS,
    requests: writeRequests(path.join(home, `requests-${i}`), [{ path: target, headers: lines }]),
  }))
  const measured = async (load) => {
    const before = cpuSeconds(gateway.edgePids())
    const result = await run(load)
    if (result.failures > 0 || Object.keys(result.statuses).some((status) => status !== '200'))
      throw new Error(`answers were ${JSON.stringify(result.statuses)}, ${result.failures} requests failed`)
    const cpu = (cpuSeconds(gateway.edgePids()) - before) / result.requests
    return { rate: result.requests / result.seconds, cpu }
  }
  for (const load of loads) await measured({ ...load, seconds: 1 })
  const [found, ratios, cpu] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const taken = []
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) taken[i] = await measured(loads[i])
    found.push(taken[0].rate)
    ratios.push(taken[0].rate / taken[1].rate)
    cpu.push(taken[0].cpu / taken[1].cpu)
  }
  return [
    String(Math.round(median(found))),
    ...[median(ratios), Math.min(...ratios), median(cpu)].map((number) => number.toFixed(2)),
  ]
}
