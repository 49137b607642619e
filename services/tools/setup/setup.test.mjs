import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { SERVICES } from './install.mjs'

const launcher = join(import.meta.dirname, '..')
const { engines } = JSON.parse(readFileSync(join(launcher, '../../package.json'), 'utf8'))
let root

/** A small checkout: the real set-up, a compiler that records its runs, and one package of each kind, installed from folders. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'setup-'))
  vi.stubEnv('SETUP', '')
  cpSync(join(launcher, 'setup.mjs'), join(root, 'services/tools/setup.mjs'), { recursive: true })
  cpSync(join(launcher, 'setup'), join(root, 'services/tools/setup'), { recursive: true })
  const manifest = {
    name: 'checkout',
    version: '1.0.0',
    engines,
    workspaces: ['services/*', 'test'],
    dependencies: { useful: 'file:packages/useful' },
    devDependencies: { typescript: 'file:packages/typescript' },
  }
  const local = (name, dev) => ({
    [`node_modules/${name}`]: { resolved: `packages/${name}`, link: true, ...(dev && { dev }) },
    [`packages/${name}`]: { name, version: '1.0.0', ...(dev && { dev }) },
  })
  write('package.json', manifest)
  write('package-lock.json', {
    name: 'checkout',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: {
      '': manifest,
      ...local('useful', false),
      ...local('typescript', true),
      'node_modules/edge': { resolved: 'services/edge', link: true },
      'services/edge': { name: 'edge', version: '1.0.0' },
      ...local('checks', true),
      'node_modules/test': { resolved: 'test', link: true },
      test: { version: '1.0.0', devDependencies: { checks: 'file:../packages/checks' } },
    },
  })
  write('test/package.json', { name: 'test', version: '1.0.0', devDependencies: { checks: 'file:../packages/checks' } })
  write('services/edge/package.json', { name: 'edge', version: '1.0.0' })
  for (const name of ['useful', 'typescript', 'checks'])
    write(`packages/${name}/package.json`, { name, version: '1.0.0' })
  write(
    'packages/typescript/bin/tsc',
    `require('node:fs').appendFileSync('compiled', process.argv.slice(2).join(' ') + '\\n')`,
  )
  write('services/edge/dist/main.js', `console.log(process.argv.slice(2).join(' ')); process.exitCode = 7`)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true })
})

function write(path, content) {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content))
}

const start = (...args) => run('--then', args)

function run(flag, args) {
  const script = ['services/tools/setup.mjs', flag, 'services/edge/dist/main.js', ...args]
  const child = spawn(process.execPath, script, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.err += text
  })
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...said })))
  return { child, ended }
}

test('a fresh clone is installed and compiled, and the script gets its arguments and gives its exit code', async () => {
  const { code, out, err } = await start('one', 'two').ended
  expect({ code, out }).toEqual({ code: 7, out: 'one two\n' })
  expect(err).toMatch(/^Installing packages.*\n(Compiling .*\n)?$/)
  expect(existsSync(join(root, 'compiled'))).toBe(true)
  expect(existsSync(join(root, 'node_modules/useful/package.json'))).toBe(true)
})

test('a start leaves out the packages for tests, and the tests add them to those that a gateway may be using', async () => {
  await start().ended
  expect(existsSync(join(root, 'node_modules/checks'))).toBe(false)
  const used = statSync(join(root, 'node_modules/useful/package.json')).ino
  writeFileSync(join(root, 'node_modules/.kept'), '')
  const child = spawn(process.execPath, ['services/tools/setup.mjs'], { cwd: root, stdio: 'ignore' })
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(join(root, 'node_modules/checks/package.json'))).toBe(true)
  expect(existsSync(join(root, 'node_modules/.kept'))).toBe(true)
  expect(statSync(join(root, 'node_modules/useful/package.json')).ino).toBe(used)
  const [first, second] = readFileSync(join(root, 'compiled'), 'utf8').split('\n')
  expect([first?.slice(0, 12), second]).toEqual(['-b --noCheck', '-b --force'])
  const before = readFileSync(join(root, 'package-lock.json'), 'utf8')
  expect((await start().ended).err).not.toMatch(/Installing/)
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).toBe(before)
})

test('a second start installs nothing', async () => {
  await start().ended
  const { code, err } = await start().ended
  expect(code).toBe(7)
  expect(err).not.toMatch(/Installing/)
})

test('packages are installed again when what is locked has changed', async () => {
  await start().ended
  rmSync(join(root, 'node_modules/.package-lock.json'))
  expect((await start().ended).err).toMatch(/Installing/)
})

test('of starts at the same moment one installs, the others wait, and all run', async () => {
  const all = await Promise.all([start('a').ended, start('b').ended, start('c').ended])
  expect(all.map(({ code, out }) => [code, out])).toEqual([
    [7, 'a\n'],
    [7, 'b\n'],
    [7, 'c\n'],
  ])
  expect(all.filter(({ err }) => err.includes('Installing'))).toHaveLength(1)
})

test('sources that do not compile are shown with what is wrong, and nothing is run', async () => {
  write('packages/typescript/bin/tsc', `console.log('a.ts(1,1): error'); process.exitCode = 1`)
  const { code, out, err } = await start().ended
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/a\.ts\(1,1\): error\nCompiling failed \(tsc -b\)\.\n$/)
})

test('a signal during the set-up ends it as that signal would, and the next start does not wait', async () => {
  write('packages/typescript/bin/tsc', `require('node:fs').writeFileSync('compiling', ''); setInterval(() => {}, 1000)`)
  const { child, ended } = start()
  await expect.poll(() => existsSync(join(root, 'compiling')), { timeout: 30_000 }).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM', out: '' })
  write('packages/typescript/bin/tsc', '')
  expect((await start().ended).err).not.toMatch(/Waiting/)
})

test('a signal during the run is the script’s', async () => {
  write(
    'services/edge/dist/main.js',
    `process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log('up')`,
  )
  const { child, ended } = start()
  child.stdout.once('data', () => child.kill('SIGTERM'))
  expect(await ended).toMatchObject({ code: 5, signal: null })
})

test('without development packages what was compiled before is run, and nothing is written', async () => {
  await start().ended
  rmSync(join(root, 'compiled'))
  rmSync(join(root, 'node_modules/typescript'))
  const useful = { resolved: 'packages/useful', link: true }
  write('node_modules/.package-lock.json', { packages: { 'node_modules/useful': useful } })
  expect(await start().ended).toMatchObject({ code: 7, err: '' })
  expect(existsSync(join(root, 'compiled'))).toBe(false)
})

test('an installation that was interrupted is made again', async () => {
  await start().ended
  rmSync(join(root, 'node_modules'), { recursive: true })
  mkdirSync(join(root, 'node_modules/useful'), { recursive: true })
  const { code, err } = await start().ended
  expect(code).toBe(7)
  expect(err).toMatch(/Installing/)
})

test('what only looks at a gateway makes a fresh clone ready, and leaves the packages of one that was as they are', async () => {
  expect((await run('--as-is', ['look']).ended).err).toMatch(/Installing/)
  rmSync(join(root, 'node_modules/.package-lock.json'))
  const { code, out, err } = await run('--as-is', ['look']).ended
  expect({ code, out, err }).toEqual({ code: 7, out: 'look\n', err: '' })
})

test('with SETUP=off nothing is installed or compiled', async () => {
  vi.stubEnv('SETUP', 'off')
  const { code, err } = await start().ended
  expect({ code, err }).toEqual({ code: 7, err: '' })
  expect(existsSync(join(root, 'node_modules'))).toBe(false)
})

test('a checkout that cannot be written runs as it was compiled, and says so', async () => {
  await start().ended
  rmSync(join(root, 'compiled'))
  rmSync(join(root, '.setup.lock'))
  // Even root cannot open a folder for writing.
  mkdirSync(join(root, '.setup.lock'))
  const { code, err } = await start().ended
  expect(code).toBe(7)
  expect(err).toMatch(/^This checkout cannot be written \(EISDIR.*\): it runs as it was compiled last\.\n$/)
  expect(existsSync(join(root, 'compiled'))).toBe(false)
})

test('one that was not set up before is refused with one line that says by whom it can be', async () => {
  mkdirSync(join(root, '.setup.lock'))
  const { code, out, err } = await start().ended
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^This checkout is not set up, and cannot be: EISDIR.*\. Run "npm run setup" as its owner\.\n$/)
})

test('without a script the checkout is made ready, and nothing is run', async () => {
  const child = spawn(process.execPath, ['services/tools/setup.mjs'], { cwd: root, stdio: 'ignore' })
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(join(root, 'compiled'))).toBe(true)
})

test('another Node than the one that is needed is refused with one line', async () => {
  write('package.json', { engines: { node: '>=90.1 <91' } })
  const { code, err } = await start().ended
  expect(code).toBe(2)
  expect(err).toMatch(
    /^Node >=90\.1 <91 is needed; this is \S+ \(.*\)\. Install Node 2[24].*npx --yes --package=node@2[24] .*\n$/,
  )
})

test('a start compiles all services, except the console, which has a bundler', () => {
  const services = join(launcher, '..')
  const all = readdirSync(services).filter((name) => existsSync(join(services, name, 'tsconfig.json')))
  expect(SERVICES.map((folder) => folder.replace('services/', '')).sort()).toEqual(
    all.filter((name) => name !== 'console').sort(),
  )
})
