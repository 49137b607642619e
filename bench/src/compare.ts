/**
 * `npm run bench:compare`: the same requests through this gateway's edge and the other servers that are found on the machine, in
 * interleaved rounds. See bench/README.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { comparePlot } from './compare/plot.js'
import { compareReport } from './compare/report.js'
import { takeRounds } from './compare/rounds.js'
import type { Comparison } from './compare/summary.js'
import { verifyTiles } from './compare/verify.js'
import type { Workload } from './compare/workload.js'
import { WORKLOADS } from './compare/workloads.js'
import { dataSet } from './data/data-set.js'
import { loadGenerator } from './load/load.js'
import { bindSelf, chooseCores, describeMachine } from './machine.js'
import { edgePeer } from './peers/edge.js'
import { floorPeer } from './peers/floor.js'
import { mapcachePeer } from './peers/mapcache.js'
import { mapproxyPeer } from './peers/mapproxy.js'
import { modTilePeer } from './peers/mod-tile.js'
import { nginxPeer } from './peers/nginx.js'
import type { Peer, RunningPeer } from './peers/peer.js'
import { tileserverGlPeer } from './peers/tileserver-gl.js'

const PEERS: readonly Peer[] = [
  edgePeer,
  nginxPeer,
  floorPeer,
  tileserverGlPeer,
  mapcachePeer,
  mapproxyPeer,
  modTilePeer,
]

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    peers: { type: 'string', default: PEERS.map(({ name }) => name).join() },
    workloads: { type: 'string', default: WORKLOADS.map(({ name }) => name).join() },
    out: { type: 'string', default: 'bench/results/local' },
    name: { type: 'string', default: 'comparison' },
  },
})

const cores = chooseCores()
const { name: generator, run } = loadGenerator()
const data = await dataSet()
// What this process computes must not take from the server.
bindSelf(cores?.load)
const dir = await mkdtemp(join(tmpdir(), 'gateway-bench-requests-'))
const running: RunningPeer[] = []
// Their own processes would outlive them otherwise: nginx has workers, Apache too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.allSettled(running.map((peer) => peer.stop())).then(() => process.exit(1)))
}
try {
  const absent = await startPeers()
  const context = { data, generator: run, seconds: positive('seconds'), cores, dir }
  const workloads = chosen<Workload>('workloads', WORKLOADS)
  const samples = await takeRounds(running, workloads, context, positive('rounds'))
  await keep(
    {
      madeAt: new Date().toISOString(),
      command: ['npm run bench:compare --', ...process.argv.slice(2)].join(' '),
      commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? 'unknown',
      machine: describeMachine(),
      generator,
      bound: cores !== null,
      rounds: positive('rounds'),
      seconds: context.seconds,
      meanTileBytes: data.meanTileBytes,
      peers: running.map(({ name, description }) => ({ name, description })),
      absent,
      samples,
    },
    workloads,
  )
} finally {
  for (const peer of running) await peer.stop()
  await rm(dir, { recursive: true })
}

async function startPeers(): Promise<Comparison['absent']> {
  const absent: { name: string; reason: string }[] = []
  for (const peer of chosen<Peer>('peers', PEERS)) {
    const started = await peer.start({ data, cores }).catch((error: Error) => {
      if (peer === edgePeer) throw error
      return error.message.replaceAll(/\s+/g, ' ')
    })
    if (typeof started === 'string') {
      absent.push({ name: peer.name, reason: started })
      continue
    }
    running.push(started)
    await verifyTiles(started, data)
  }
  return absent
}

async function keep(comparison: Comparison, workloads: readonly Workload[]): Promise<void> {
  const out = resolve(options.out)
  await mkdir(out, { recursive: true })
  const report = compareReport(comparison, workloads)
  await writeFile(join(out, `${options.name}.json`), `${JSON.stringify(comparison, null, 1)}\n`)
  await writeFile(join(out, `${options.name}.md`), report)
  await writeFile(join(out, `${options.name}.svg`), comparePlot(comparison, workloads))
  process.stdout.write(`${report}\nKept as ${options.name}.{json,md,svg} in ${out}\n`)
}

function chosen<T extends { readonly name: string }>(option: 'peers' | 'workloads', all: readonly T[]): T[] {
  return options[option].split(',').map((name) => {
    const found = all.find((one) => one.name === name)
    if (found === undefined) throw new Error(`--${option}: ${name} is none of ${all.map((one) => one.name).join(', ')}`)
    return found
  })
}

function positive(option: 'seconds' | 'rounds'): number {
  const value = Number(options[option])
  if (!(value > 0)) throw new Error(`--${option} must be a number above 0`)
  return value
}
