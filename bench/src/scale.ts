/** `npm run bench:scale`: many simulated edges on one store. See bench/README.md. */
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from './machine.js'
import { figure, textTable } from './report/text-table.js'
import { measure, type ScaleFigures } from './scale/changes.js'
import { startStand } from './scale/stand.js'

const { values: options } = parseArgs({
  options: {
    edges: { type: 'string', default: '1,8,50,200,500' },
    rates: { type: 'string', default: '0,10,50,200' },
    seconds: { type: 'string', default: '15' },
    tokens: { type: 'string', default: '10000000' },
    versions: { type: 'string', default: '30' },
    real: { type: 'boolean', default: false },
    out: { type: 'string', default: 'bench/results/local' },
    name: { type: 'string', default: 'scale' },
  },
})

const numbers = (list: string): number[] => list.split(',').map(Number)
const edges = numbers(options.edges)
const stand = await startStand({
  tokens: Number(options.tokens),
  versions: Number(options.versions),
  maxEdges: Math.max(...edges),
  real: options.real,
})
const runs: ScaleFigures[] = []
try {
  for (const count of edges) {
    for (const rate of numbers(options.rates)) {
      runs.push(await measure(stand, count, rate, Number(options.seconds)))
      process.stdout.write(`${JSON.stringify(runs.at(-1))}\n`)
    }
  }
} finally {
  await stand.stop()
}

const head = [
  'edges, changes a second',
  'refused',
  'not confirmed',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'worst ms',
  'store, cores',
  'bus',
  'control plane',
  'edges together',
  'transactions/s',
  'WAL kB a change',
  'kB an edge writes for a change',
  'ready in s',
  'MB an edge',
]
const rows = runs.map((run) => {
  const { store, bus, control, edges: all } = run.cpu
  const times =
    run.changes === 0 ? [undefined, undefined, undefined, undefined] : [run.p50Ms, run.p95Ms, run.p99Ms, run.worstMs]
  const figures = [
    run.refused,
    run.unconfirmed,
    ...times,
    store,
    bus,
    control,
    all,
    run.transactionsPerSecond,
    run.walKbPerChange,
    run.writtenKbPerChange,
    run.readyMs / 1000,
    run.edgeBytes / 1e6,
  ]
  return [`${run.edges}, ${run.perSecond}`, ...figures.map((value) => figure(value))]
})
const commit =
  spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
  }).stdout?.trim() ?? 'unknown'
const { processor, processors, kernel, node } = describeMachine()
const command = ['npm run bench:scale --', ...process.argv.slice(2)].join(' ')
const report = `# Many edges on one store

${Number(options.tokens).toLocaleString('en-GB')} tokens, ${options.versions} versions of basemaps, ${options.real ? 'real edges' : 'simulated edges'}. Every change disables one token and is answered when all edges have confirmed it.
All parts share ${processors} cores of one machine, with the edges and the load. Processor time is in cores.

${textTable(head, rows)}

Made by \`${command}\` of ${commit} on ${processor}, Linux ${kernel}, Node ${node}, ${new Date().toISOString().slice(0, 10)}.
`
await mkdir(options.out, { recursive: true })
await writeFile(resolve(options.out, `${options.name}.json`), `${JSON.stringify({ command, commit, runs }, null, 2)}\n`)
await writeFile(resolve(options.out, `${options.name}.md`), report)
process.stdout.write(report)
