/**
 * `npm run bench:compare`: sends the same requests to this gateway's edge and to the other servers installed on the machine, in interleaved
 * rounds. See bench/README.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { evenPlot, sizePlot } from './compare/curve-plot.js'
import { judgeAgainstBefore } from './compare/goals.js'
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
import { earlierEdgePeer, edgePeer } from './peers/edge.js'
import { lighttpdPeer } from './peers/lighttpd.js'
import { limitPeer } from './peers/limit.js'
import { nginxPeer } from './peers/nginx.js'
import type { Environment, Peer, RunningPeer } from './peers/peer.js'
import { tileserverGlPeer } from './peers/tileserver-gl.js'
import { varnishPeer } from './peers/varnish.js'

const PEERS: readonly Peer[] = [edgePeer, nginxPeer, lighttpdPeer, varnishPeer, limitPeer, tileserverGlPeer]

/** Exit code if a figure is worse than in the earlier checkout. */
const WORSE = 3

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    peers: { type: 'string' },
    before: { type: 'string' },
    workloads: { type: 'string' },
    out: { type: 'string', default: 'bench/results/local' },
    name: { type: 'string', default: 'comparison' },
  },
})

const cores = chooseCores()
const generator = loadGenerator()
const data = await dataSet()
// This process must not compete with the server for its processor.
bindSelf(cores?.load)
const dir = await mkdtemp(join(tmpdir(), 'gateway-bench-requests-'))
const running = new Map<Environment, RunningPeer[]>()
const stopAll = () => Promise.allSettled([...running.values()].flat().map((peer) => peer.stop()))
// Otherwise child processes would outlive this one: nginx and Varnish have workers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // The current load fails because its server is gone; the message names the real cause.
    process.stderr.write(`Ended by ${signal} before all rounds were taken.\n`)
    void stopAll().then(() => process.exit(1))
  })
}
try {
  const workloads = chosenWorkloads()
  const absent = await startPeers(new Set(workloads.map(({ environment = 'common' }) => environment)))
  const context = { data, generator, seconds: positive('seconds'), cores, dir }
  const samples = await takeRounds(running, workloads, context, positive('rounds'))
  await keep(
    {
      madeAt: new Date().toISOString(),
      command: ['npm run bench:compare --', ...process.argv.slice(2)].join(' '),
      commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? 'unknown',
      machine: describeMachine(),
      bound: cores !== null,
      rounds: positive('rounds'),
      seconds: context.seconds,
      meanTileBytes: data.meanTileBytes,
      peers: describePeers(),
      absent,
      samples,
    },
    workloads,
  )
} finally {
  await stopAll()
  await rm(dir, { recursive: true })
}

async function startPeers(environments: ReadonlySet<Environment>): Promise<Comparison['absent']> {
  const absent: { name: string; reason: string }[] = []
  for (const environment of environments) {
    const started: RunningPeer[] = []
    running.set(environment, started)
    for (const peer of chosenPeers().filter((one) => one.environments.includes(environment))) {
      const outcome = await peer.start({ data, environment, cores }).catch((error: Error) => {
        if (peer === edgePeer || peer.name === 'before') throw error
        return error.message.replaceAll(/\s+/g, ' ')
      })
      if (typeof outcome === 'string') {
        if (!absent.some(({ name }) => name === peer.name)) absent.push({ name: peer.name, reason: outcome })
        continue
      }
      started.push(outcome)
      await verifyTiles(outcome, data, environment)
    }
  }
  return absent
}

/** Descriptions of each server by name, one for each of its configurations. */
function describePeers(): Comparison['peers'] {
  const all = [...running.values()].flat()
  return [...new Set(all.map(({ name }) => name))].map((name) => {
    const descriptions = new Set(all.filter((peer) => peer.name === name).map(({ description }) => description))
    return { name, description: [...descriptions].join(' | ') }
  })
}

async function keep(comparison: Comparison, workloads: readonly Workload[]): Promise<void> {
  const out = resolve(options.out)
  await mkdir(out, { recursive: true })
  const report = compareReport(comparison, workloads)
  await writeFile(join(out, `${options.name}.json`), `${JSON.stringify(comparison, null, 1)}\n`)
  await writeFile(join(out, `${options.name}.md`), report)
  await writeFile(join(out, `${options.name}.svg`), comparePlot(comparison, workloads))
  const { processor, kernel } = comparison.machine
  const machine = `${processor}, Linux ${kernel}, ${comparison.madeAt.slice(0, 10)}`
  for (const [name, curves] of Object.entries({
    even: evenPlot(comparison.samples, machine),
    sizes: sizePlot(comparison.samples, machine),
  })) {
    if (curves !== null) await writeFile(join(out, `${options.name}-${name}.svg`), curves)
  }
  if (judgeAgainstBefore(comparison.samples).some(({ met }) => !met)) process.exitCode = WORSE
  process.stdout.write(`${report}\nKept as ${options.name}.{json,md,svg} in ${out}\n`)
}

/** Returns the named peers; with an earlier checkout the default is only that one. */
function chosenPeers(): Peer[] {
  const { before } = options
  if (before === undefined) return chosen('peers', PEERS)
  const others = options.peers === undefined ? [edgePeer] : chosen<Peer>('peers', PEERS)
  return [...others, earlierEdgePeer(resolve(before))]
}

/** `even-*` selects all workloads with that prefix. */
function chosenWorkloads(): Workload[] {
  const wanted = options.workloads?.split(',') ?? ['*']
  return wanted.flatMap((name) => {
    const found = WORKLOADS.filter((one) =>
      name.endsWith('*') ? one.name.startsWith(name.slice(0, -1)) : one.name === name,
    )
    if (found.length === 0)
      throw new Error(
        `--workloads: ${name} is unknown; the workloads are ${WORKLOADS.map((one) => one.name).join(', ')}`,
      )
    return found
  })
}

function chosen<T extends { readonly name: string }>(option: 'peers', all: readonly T[]): T[] {
  return (options[option]?.split(',') ?? all.map(({ name }) => name)).map((name) => {
    const found = all.find((one) => one.name === name)
    if (found === undefined)
      throw new Error(`--${option}: ${name} is unknown; the values are ${all.map((one) => one.name).join(', ')}`)
    return found
  })
}

function positive(option: 'seconds' | 'rounds'): number {
  const value = Number(options[option])
  if (!(value > 0)) throw new Error(`--${option} must be a number above 0`)
  return value
}
