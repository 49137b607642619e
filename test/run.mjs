/**
 * `npm test`: checks that the external programs for the tests are installed, checks format and lint, runs the layers of tests in sequence,
 * and ends with one line of totals. With arguments (`npm test -- test/conformance/tokens`) it runs only the tests whose path contains one
 * of them. With `--without-gdal` (Linux), the tests see no GDAL, and those that need it are named and left out. With `--profile` it ends with the time, the processor time and the slowest test of each file. With `--changed` or `--changed=COMMIT` it runs the tests affected by a change: those that import a changed file, and the whole
 * system layer if any of its sources has changed, otherwise its changed tests.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WITHOUT_GDAL } from './harness/without-gdal.mjs'
import { filesThatNeedGdal } from './needs-gdal.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const filters = process.argv.slice(2).filter((argument) => !/^--(changed|profile|without-gdal)/.test(argument))
const changed = process.argv.find((argument) => argument.startsWith('--changed'))
const profiled = process.argv.includes('--profile')
/** Test files that are left out. */
const leftOut = process.argv.includes('--without-gdal') ? filesThatNeedGdal(root) : []
const totals = { passed: 0, failed: 0, skipped: 0 }
/** Failed tests, which the end of the output names, because a CI often keeps no more. */
const failures = []
/** Files with their times in s. */
const times = []
/** Layers with their times in s. */
const layerTimes = []
/** Number of skipped tests by file. */
const skippedIn = new Map()

/** External programs of the tests, or absolute paths of other files, with the Debian package of each. */
const PROGRAMS = {
  curl: 'curl',
  'redis-server': 'redis-server',
  ogr2ogr: 'gdal-bin',
  chromium: 'chromium',
  '/usr/lib/chromium/chromium-headless-shell': 'chromium-headless-shell',
  'g++': 'g++',
  make: 'make',
  python3: 'python3',
  ip: 'iproute2',
  pgbouncer: 'pgbouncer',
  nginx: 'nginx',
  haproxy: 'haproxy',
  faketime: 'faketime',
  promtool: 'prometheus',
  minisign: 'minisign',
  'swift-proxy-server': 'swift-proxy',
  'swift-account-server': 'swift-account',
  'swift-container-server': 'swift-container',
  'swift-object-server': 'swift-object',
  '/usr/share/postgresql/15/extension/postgis.control': 'postgresql-15-postgis-3',
  '/usr/lib/python3/dist-packages/osgeo/ogr.py': 'python3-gdal',
  // For the load generator of the benchmarks.
  '/usr/include/openssl/ssl.h': 'libssl-dev',
}

/** Programs without which tests are skipped, because Debian has no package of them, or only a few tests use a large one, with their sources. */
const SKIPPED_WITHOUT = {
  kubectl: 'kubernetes.io, or the package kubernetes-client of newer systems',
  docker: 'docker.io, or podman',
  MapProxy: 'the package mapproxy',
}

/** Programs that compile the native addon, which has its own tests. */
const COMPILING = new Set(['g++', 'make', 'python3'])

/** Layers in order: tests that are quick to run and to understand fail first. */
const LAYERS = ['unit', 'integration', 'system']

if (process.argv.includes('--without-gdal') && process.env.GDAL_HIDDEN === undefined) hideGdal()
if (await providePrograms()) {
  if (filters.length === 0) lint()
  for (const layer of LAYERS) runLayer(layer)
  if (changed === undefined && totals.passed + totals.failed === 0) fail('No test was found.')
} else {
  totals.failed++
}
finish()

/** Runs this program again where no GDAL is, and ends with its exit code. */
function hideGdal() {
  const [command, ...args] = [...WITHOUT_GDAL, process.execPath, ...process.argv.slice(1)]
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, GDAL_HIDDEN: 'true' } })
  process.exit(status ?? 1)
}

async function providePrograms() {
  const isNeeded = ([, name]) => process.env.GDAL_HIDDEN === undefined || !name.includes('gdal')
  const missing = Object.entries(PROGRAMS).filter((entry) => isNeeded(entry) && !isOnPath(entry[0]))
  if (missing.length === 0) return true
  const packages = missing.map(([, name]) => name)
  if (process.env.SETUP !== 'off' && process.getuid?.() === 0 && isOnPath('apt-get') && aptInstall(packages)) {
    // The set-up failed because there was no compiler yet.
    if (missing.some(([program]) => COMPILING.has(program))) compileAddon()
    return true
  }
  console.error(
    `The tests need ${missing.map(([program]) => program).join(', ')}: apt-get install ${packages.join(' ')}`,
  )
  return false
}

function aptInstall(packages) {
  console.log(`Installing ${packages.join(', ')} (apt-get); SETUP=off runs nothing but the tests ...`)
  // RUNLEVEL keeps Debian from starting the services of installed packages.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
  ]) {
    const { status, stdout, stderr } = spawnSync('apt-get', args, {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (status === 0) continue
    console.error(`${stdout}${stderr}`)
    return false
  }
  return true
}

function compileAddon() {
  spawnSync('npm', ['run', 'install', '--workspace=@gateway/native-edge', '--silent'], { cwd: root, stdio: 'inherit' })
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((dir) => existsSync(resolve(dir, program)))
}

function lint() {
  const { status } = spawnSync('npm', ['run', '--silent', 'lint'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) fail('Lint: failed (npm run lint); `npm run format` fixes the faults that biome can fix.')
}

/** System tests run built programs without importing them. Returns those that a change affects, or null for all. */
function changedSystemTests() {
  const since = changed.split('=')[1] ?? 'HEAD'
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.split('\n')
  const files = [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')]
  const isTest = (file) => /\.test\.[a-z]+$/.test(file)
  const isSource = (file) => /^(libs|services|docs|deploy|test|config)\/|^package/.test(file) && !isTest(file)
  return files.some(isSource) ? null : files.filter((file) => /^test\/(conformance|e2e|fault)\//.test(file))
}

/** Returns the arguments that select the tests of a layer; null: none is selected. */
function selection(layer) {
  if (changed === undefined) return filters
  if (layer !== 'system') return [changed, ...filters]
  const tests = changedSystemTests()
  if (tests === null) return filters
  return tests.length === 0 ? null : tests
}

function runLayer(layer) {
  const selected = selection(layer)
  if (selected === null) return
  const dir = mkdtempSync(join(tmpdir(), 'gateway-test-report-'))
  const report = join(dir, 'report.json')
  // A layer may be two projects: unit and unit-components, integration and integration-isolated.
  const options = ['--config', 'test/vitest.config.ts', '--project', `${layer}*`, '--passWithNoTests']
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const processorTimes = join(dir, 'processor-times')
  const env = profiled ? { ...process.env, TEST_PROCESSOR_TIMES: processorTimes } : process.env
  const before = { wall: performance.now(), processor: endedChildrenSeconds() }
  const excluded = leftOut.flatMap((file) => ['--exclude', file])
  const args = ['run', ...options, ...reporters, ...excluded, ...selected]
  const { status } = runNode('node_modules/vitest/vitest.mjs', args, env)
  layerTimes.push({
    layer,
    wall: (performance.now() - before.wall) / 1000,
    processor: endedChildrenSeconds() - before.processor,
  })
  const counted = existsSync(report) ? count(JSON.parse(readFileSync(report, 'utf8')), readTimes(processorTimes)) : 0
  // Vitest also fails because of events outside of tests: an unhandled rejection, a global set-up.
  if (status !== 0 && counted === 0) fail(`The ${layer} layer failed outside of its tests.`)
  rmSync(dir, { recursive: true })
}

/** Returns the processor time of all processes that this one has started and that have ended, in s. */
function endedChildrenSeconds() {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  // cutime and cstime, in hundredths of a second.
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** The processor time in s of each test file, which `test/harness/processor-time.ts` writes. */
function readTimes(file) {
  if (!existsSync(file)) return new Map()
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return new Map(lines.map((line) => JSON.parse(line)).map(({ name, seconds }) => [name, seconds]))
}

/** Adds a layer's report to the totals; returns its number of failures. */
function count(report, processorTimes) {
  const before = totals.failed
  for (const file of report.testResults) {
    // A file that does not load, or whose clean-up finds leftovers, fails without a failed test.
    const failed = file.assertionResults.filter(({ status }) => status === 'failed')
    totals.failed += file.status === 'failed' ? Math.max(1, failed.length) : failed.length
    const name = relative(root, file.name)
    for (const { fullName } of failed) failures.push(`${name}: ${fullName}`)
    if (file.status === 'failed' && failed.length === 0) failures.push(`${name}: outside of its tests`)
    const slowest = file.assertionResults.toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0))[0]
    const processor = processorTimes.get(file.name) ?? 0
    times.push({ name, seconds: (file.endTime - file.startTime) / 1000, processor, slowest })
    totals.passed += file.assertionResults.filter(({ status }) => status === 'passed').length
    const skipped = file.assertionResults.filter(({ status }) => ['pending', 'skipped', 'todo'].includes(status)).length
    totals.skipped += skipped
    if (skipped > 0) skippedIn.set(name, skipped)
  }
  return totals.failed - before
}

function runNode(script, args, env) {
  return spawnSync(process.execPath, [script, ...args], { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
}

function fail(line) {
  console.error(line)
  totals.failed++
}

/** Names the programs that the tests of a file are skipped without, which no other place has: their files say so themselves. */
function becauseOf(file) {
  const text = readFileSync(join(root, file), 'utf8')
  const without = Object.entries(SKIPPED_WITHOUT).filter(
    ([program]) => text.includes(`'${program}'`) && !isOnPath(program),
  )
  return without.map(([program, from]) => `: they need ${program} (${from})`).join('')
}

function column(seconds) {
  return `${seconds.toFixed(1).padStart(7)} s`
}

function finish() {
  const { passed, failed, skipped } = totals
  if (profiled) {
    console.log('   time  processor  file (its slowest test)')
    for (const { name, seconds, processor, slowest } of times.toSorted((a, b) => b.processor - a.processor))
      console.log(
        `${column(seconds)} ${column(processor)}    ${name} (${((slowest?.duration ?? 0) / 1000).toFixed(1)} s: ${slowest?.title ?? 'no test'})`,
      )
    for (const { layer, wall, processor } of layerTimes) console.log(`${column(wall)} ${column(processor)}    ${layer}`)
  }
  for (const failure of failures) console.log(`failed: ${failure}`)
  for (const file of leftOut) console.log(`left out, since it needs GDAL: ${file}`)
  for (const [file, count] of skippedIn) console.log(`${count} skipped in ${file}${becauseOf(file)}`)
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = failed > 0 ? 1 : 0
}
