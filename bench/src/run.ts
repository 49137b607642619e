/** `npm run bench`: load scenarios on a separate gateway. See bench/README.md. */
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { dataSet } from './data/data-set.js'
import { startGateway } from './gateway/gateway.js'
import { bindSelf, chooseCores, describeMachine } from './machine.js'
import { figure, textTable } from './report/text-table.js'
import { disableByNotify, disableByRedis } from './scenarios/disable.js'
import type { Figures, Scenario } from './scenarios/scenario.js'
import { coldTiles, manyTokens } from './scenarios/tiles.js'

const SCENARIOS: readonly Scenario[] = [coldTiles, manyTokens, disableByNotify, disableByRedis]

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    scenario: { type: 'string', multiple: true, default: SCENARIOS.map(({ name }) => name) },
    out: { type: 'string', default: 'bench/results/local/bench.json' },
  },
})

const scenarios = options.scenario.map((name) => {
  const found = SCENARIOS.find((one) => one.name === name)
  if (found === undefined)
    throw new Error(`--scenario ${name} is unknown; the scenarios are ${SCENARIOS.map((one) => one.name).join(', ')}`)
  return found
})
const seconds = Number(options.seconds)
if (!(seconds > 0)) throw new Error('--seconds must be a number above 0')

const results = {
  madeAt: new Date().toISOString(),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? 'unknown',
  command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
  machine: describeMachine(),
  seconds,
  scenarios: await runAll(),
}
const out = resolve(options.out)
await mkdir(dirname(out), { recursive: true })
await writeFile(out, `${JSON.stringify(results, null, 1)}\n`)
process.stdout.write(`\nKept as ${out}\n`)

async function runAll(): Promise<Record<string, Figures>> {
  const data = await dataSet()
  const cores = chooseCores()
  bindSelf(cores?.load)
  const gateway = await startGateway({ workers: 1, cores, basemaps: [data.basemaps], vectors: data.vectors })
  const found: Record<string, Figures> = {}
  try {
    const { token } = await gateway.admin.issueToken()
    for (const scenario of scenarios) {
      process.stdout.write(`\n${scenario.name}: ${scenario.title}\n`)
      const figures = await scenario.run({ data, cores, seconds, gateway, token })
      found[scenario.name] = figures
      process.stdout.write(
        `${textTable(['', ...Object.keys(figures)], [['', ...Object.values(figures).map(figure)]])}\n`,
      )
    }
  } finally {
    await gateway.stop()
  }
  return found
}
