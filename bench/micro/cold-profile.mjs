/**
 * Processor time of a tile that is in no memory of the edge, by storage: each system call, the addon, JavaScript, garbage collection and the
 * rest, compared with an earlier checkout. perf(1) samples the edge's processes by the processor's clock under the bench's workloads `even-5`,
 * `evenpm-5` and `evenmb-5` (five times the memory for tiles, all in the page cache). strace(1) counts the calls in a separate run.
 *
 *   node bench/micro/cold-profile.mjs [--before ../before] [--seconds 4] [--out bench/results --name cold-profile]
 *
 * Needs `npx tsc -b`, the addon, perf, strace and the rights to use them. Prints microseconds per request, and the share of the tiles that came
 * from memory. Takes 100 s.
 */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { WORKLOADS } from '../dist/compare/workloads.js'
import { dataSet } from '../dist/data/data-set.js'
import { loadGenerator } from '../dist/load/load.js'
import { bindSelf, chooseCores, cpuSeconds } from '../dist/machine.js'
import { earlierEdgePeer, edgePeer } from '../dist/peers/edge.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    out: { type: 'string' },
    name: { type: 'string', default: 'cold-profile' },
  },
})
const STORAGES = { files: 'even-5', PMTiles: 'evenpm-5', MBTiles: 'evenmb-5' }
/** Samples per second; not a divisor of the timer's ticks. */
const FREQUENCY = 997
const ADDONS = /(native-edge|sendfile)\.node$/
const GARBAGE =
  /v8::internal::(Heap|Scaveng|MarkCompact|Marking|ConcurrentMark|IncrementalMarking|YoungGeneration|Sweeper|PagedSpace|GlobalHandles|Evacuat|Memory(Allocator|Chunk)|GC|ArrayBufferSweeper)/
const SYSTEM_CALL = /^_{2,3}(?:x64_|arm64_|do_)?sys_(\w+)$/

/** Returns the kind of code of a sample, from its stack, innermost first. */
function kindOf(frames) {
  for (const { symbol } of frames) {
    const call = SYSTEM_CALL.exec(symbol)?.[1]
    if (call !== undefined)
      return call.replace('newfstat', 'fstat').replace('sendto', 'send').replace('recvfrom', 'recv')
  }
  const [{ symbol, file }] = frames
  if (file.includes('kernel') || file.includes('guest')) return 'kernel, outside of calls'
  if (frames.some((frame) => GARBAGE.test(frame.symbol))) return 'garbage'
  if (ADDONS.test(file)) return 'addon'
  if (file.includes('uws')) return 'uWebSockets.js'
  const isCompiled = file.endsWith('.map') || file.includes('anon') || file.includes('JIT') || file.includes('memfd')
  if (isCompiled || symbol.startsWith('Builtins_')) return 'JavaScript'
  if (/lib(c|m|stdc\+\+|gcc_s|pthread)[-.]/.test(file)) return 'libc'
  return file.endsWith('node') || file.endsWith('node.exe') ? 'V8 and Node' : 'rest'
}

/** "ffffffff8100 name(of arguments) (/path/of/file)" */
function frameOf(line) {
  const symbol = line.indexOf(' ') + 1
  const file = line.lastIndexOf(' (')
  return { symbol: line.slice(symbol, file), file: line.slice(file + 2, -1) }
}

/** Returns the share of each kind in all samples, and their number. */
function partsOf(recording) {
  const { stdout, status } = spawnSync('perf', ['script', '-i', recording, '-F', 'ip,sym,dso'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  if (status !== 0) throw new Error('perf script has failed')
  const counts = new Map()
  let total = 0
  for (const stack of stdout.split('\n\n')) {
    const frames = stack
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.endsWith(')'))
      .map(frameOf)
    if (frames.length === 0) continue
    const kind = kindOf(frames)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    total++
  }
  return { total, parts: new Map([...counts].map(([kind, count]) => [kind, count / total])) }
}

/** Returns the number of calls of each kind that strace counted. */
function callsOf(report) {
  const rows = report.split('\n').map((line) => line.trim().split(/\s+/))
  return new Map(rows.filter(([share]) => /^\d/.test(share ?? '')).map((row) => [row.at(-1), Number(row[3])]))
}

/** Runs a program during a load, and ends it by SIGINT. */
async function beside(command, work) {
  const child = spawn('sh', ['-c', `exec ${command}`], { stdio: 'ignore' })
  const ended = new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const done = await work()
  child.kill('SIGINT')
  await ended
  return done
}

const cores = chooseCores()
const generator = loadGenerator()
const data = await dataSet()
bindSelf(cores?.load)
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-bench-requests-'))
const seconds = Number(options.seconds)
const sides = [edgePeer, ...(options.before === undefined ? [] : [earlierEdgePeer(path.resolve(options.before))])]
const results = []
let running
// Otherwise the child processes would outlive this one.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => running?.stop().then(() => process.exit(1)))
for (const side of sides) {
  const peer = await side.start({ data, environment: 'small', cores })
  if (typeof peer === 'string') throw new Error(peer)
  running = peer
  try {
    for (const [storage, name] of Object.entries(STORAGES)) {
      const workload = WORKLOADS.find((one) => one.name === name)
      const context = { data, generator, seconds, cores, dir }
      const pids = peer.pids().join(',')
      const recording = path.join(dir, `${side.name}-${storage}`)
      // Only the last load of a workload counts: the previous ones bring it into its state.
      let last
      const watched = (command, length) => async (load) => {
        const cpu = cpuSeconds(peer.pids())
        const result = await beside(command, () => generator({ ...load, seconds: length }))
        last = { requests: result.requests, us: ((cpuSeconds(peer.pids()) - cpu) / result.requests) * 1e6 }
        return result
      }
      const record = `perf record -q -e cpu-clock -F ${FREQUENCY} -g -o ${recording} -p ${pids}`
      const sample = await workload.measure(peer, { ...context, generator: watched(record, seconds) })
      const { us } = last
      const strace = `strace -c -f -o ${recording}.calls ${peer
        .pids()
        .map((pid) => `-p ${pid}`)
        .join(' ')}`
      await workload.measure(peer, { ...context, isWarmUp: true, generator: watched(strace, 1) })
      const calls = callsOf(fs.readFileSync(`${recording}.calls`, 'utf8'))
      results.push({ side: side.name, storage, us, hitRate: sample.hitRate, requests: last.requests, calls, recording })
    }
  } finally {
    await peer.stop()
  }
}
const read = results.map((one) => ({ ...one, ...partsOf(one.recording) }))
fs.rmSync(dir, { recursive: true })

/** Limit in µs below which rows are combined into one line. */
const LEAST_US = 0.1
const kinds = [...new Set(read.flatMap(({ parts }) => [...parts.keys()]))]
const timeOf = ({ us, parts }, kind) => us * (parts.get(kind) ?? 0)
const isSmall = (kind) => read.every((one) => timeOf(one, kind) < LEAST_US)
const most = (kind) => Math.max(...read.map((one) => timeOf(one, kind)))
const shown = kinds.filter((kind) => !isSmall(kind)).sort((a, b) => most(b) - most(a))
const countOf = ({ calls, requests }, kind) => {
  const count = calls.get(kind) ?? calls.get({ send: 'sendto', recv: 'recvfrom' }[kind])
  return count === undefined ? '' : ` (${(count / requests).toFixed(2)})`
}
const header = [
  'us a request (calls)',
  ...read.map(({ side, storage }) => `${storage}, ${side === 'before' ? 'before' : 'now'}`),
]
const table = textTable(header, [
  ...shown.map((kind) => [kind, ...read.map((one) => `${timeOf(one, kind).toFixed(2)}${countOf(one, kind)}`)]),
  [
    'all that is less',
    ...read.map((one) =>
      kinds
        .filter(isSmall)
        .reduce((sum, kind) => sum + timeOf(one, kind), 0)
        .toFixed(2),
    ),
  ],
  ['together', ...read.map(({ us }) => us.toFixed(2))],
  ['out of memory', ...read.map(({ hitRate }) => (hitRate === undefined ? '' : `${Math.round(hitRate * 100)} %`))],
  ['samples', ...read.map(({ total }) => String(total))],
])
process.stdout.write(`${table}\n`)
if (options.out !== undefined) {
  const about = `# Processor time of a tile that is not in memory\n\n\`node bench/micro/cold-profile.mjs ${process.argv.slice(2).join(' ')}\`, ${new Date().toISOString()}, ${os.cpus()[0]?.model}, Linux ${os.release()}, load ${os.loadavg()[0].toFixed(0)}\n\n`
  fs.mkdirSync(options.out, { recursive: true })
  fs.writeFileSync(path.join(options.out, `${options.name}.md`), `${about}${table}\n`)
}
