/**
 * Runs that take longer than a test may, started by hand:
 *
 *   npm run soak -- --minutes 20                   load and churn; fails if memory grows after the tenth minute
 *   npm run soak -- --minutes 3 --kill-workers     the same while edge workers are killed; memory is not checked
 *   npm run monitoring:check -- --minutes 5        a real Prometheus under load: panels have data, alerts fire on their faults
 *   npm run kills -- --kills 40                    kill -9 of the control plane; everything must end once
 *   npm run edits -- --minutes 5                   a vector is replaced every two seconds under load; no content may be wrong or mixed
 *   npm run upgrade:check -- --before COMMIT       the last release, or another commit, is upgraded, comes back and is upgraded again under load
 *   npm run hostile -- --minutes 3                 hostile files, uploads and requests while another client reads tiles; needs a quiet machine
 *   npm run kills:cache                            kill -9 of an edge that fills its cache of remote tiles, 100 times; no byte may be wrong
 *
 * Further options: --rate N (tile requests per second, default 200), --seed N (of the random choices; printed at the start).
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const SCRIPTS = ['soak', 'kills', 'kills-cache', 'monitoring', 'vector-edits', 'upgrade', 'hostile']
const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const { positionals, values } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '20' },
    rate: { type: 'string', default: '200' },
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    'kill-workers': { type: 'boolean', default: false },
    before: { type: 'string' },
  },
})
const [script = 'soak'] = positionals
const numbers = Object.fromEntries(['minutes', 'rate', 'kills', 'seed'].map((name) => [name, Number(values[name])]))
const wrong = Object.entries(numbers).find(([, number]) => !(number >= 0))
if (wrong !== undefined || !SCRIPTS.includes(script)) {
  console.error(
    wrong === undefined ? `There is no ${script} here: ${SCRIPTS.join(', ')}.` : `--${wrong[0]} is a number.`,
  )
  process.exit(2)
}
// A test that `npm test` runs as well, with fewer kills.
const [project, file] =
  script === 'kills-cache'
    ? ['integration*', 'services/edge/src/tiles/remote-kills']
    : ['by-hand', `test/soak/${script}`]
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', project, file],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      CACHE_KILLS: values.kills,
      BY_HAND: JSON.stringify({ ...numbers, killWorkers: values['kill-workers'], before: values.before }),
    },
  },
)
process.exitCode = status ?? 1
