/**
 * Compiles the harness and runs it:
 *
 *   npm run fuzz -- --seconds 600                   as long as needed; --seed N draws the same cases again
 *   npm run fuzz -- --rounds 300 --seed 1           a fixed number of cases, the same on every machine
 *   npm run fuzz -- --check pipeline --case 123     the one case that a failure names
 *   npm run fuzz -- --libfuzzer --seconds 600       the same checks, led by coverage; needs clang++
 *
 * Exits with 1 if a check fails, and prints how to run the failed case again.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const dir = import.meta.dirname
// A small quarantine and short stacks of allocations, because cases allocate much memory for a short time.
const options = { ASAN_OPTIONS: 'quarantine_size_mb=8:malloc_context_size=8', UBSAN_OPTIONS: 'print_stacktrace=1' }
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    rounds: { type: 'string', default: '0' },
    check: { type: 'string' },
    case: { type: 'string' },
    libfuzzer: { type: 'boolean', default: false },
  },
})
const compiler = values.libfuzzer ? ['libfuzzer'] : ['CXX=g++']
run('make', ['-s', '-j2', '-C', dir, ...compiler], 'the harness was not compiled')
if (values.libfuzzer) {
  const corpus = join(dir, 'build/corpus')
  mkdirSync(corpus, { recursive: true })
  run(
    join(dir, 'build/libfuzzer'),
    [corpus, `-max_total_time=${values.seconds}`, '-max_len=16384'],
    'a check has failed',
  )
} else {
  console.log(`fuzz: seed ${values.seed}`)
  const names = ['seconds', 'seed', 'rounds', 'check', 'case'].filter((name) => values[name] !== undefined)
  run(
    join(dir, 'build/fuzz'),
    names.flatMap((name) => [`--${name}`, values[name]]),
    'a check has failed',
  )
}

function run(program, args, complaint) {
  // biome-ignore lint/style/noProcessEnv: settings of the sanitizers, not of the gateway
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', env: { ...options, ...process.env } })
  if (status === 0) return
  console.error(`fuzz: ${complaint}${error === undefined ? '' : ` (${error.message})`}`)
  process.exit(1)
}
