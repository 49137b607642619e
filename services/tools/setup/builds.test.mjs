import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { buildAddon, buildConsole } from './builds.mjs'

let root
let builds

/** A checkout with a console of one page, and a bundler that makes a file or fails, as the test requires. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'builds-'))
  builds = 0
  write('services/console/vite.config.ts', '')
  write('services/console/icons-plugin.mjs', '')
  for (const file of ['contracts/src/message-template.ts', 'contracts/src/input/nearest.ts']) write(`libs/${file}`, '')
  for (const file of ['core/src/files/outside-json.ts', 'styles/src/validate.ts']) write(`libs/${file}`, '')
  write('services/console/package.json', '{}')
  write('services/console/index.html', '<p>')
  write('services/console/public/icon.svg', '<svg/>')
  write('services/console/src/pages/main.tsx', 'one')
  write(
    'node_modules/vite/bin/vite.js',
    `const fs = require('node:fs')
    if (fs.readFileSync('src/pages/main.tsx', 'utf8') === 'broken') { console.error('main.tsx: no'); process.exit(1) }
    fs.mkdirSync(process.argv.at(-1), { recursive: true })`,
  )
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true })
})

function write(path, content) {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), content)
}

const build = () => buildConsole(root, () => builds++)

test('the console is built once for each change of any of its sources', async () => {
  for (const [path, content] of [
    ['src/pages/main.tsx', 'two'],
    ['public/icon.svg', '<svg></svg>'],
    ['index.html', '<p></p>'],
  ]) {
    write(`services/console/${path}`, content)
    builds = 0
    for (let start = 0; start < 2; start++) expect(await build()).toMatchObject({ ok: true })
    expect(builds).toBe(1)
  }
})

test('a build that failed, and one that was removed, are made again', async () => {
  write('services/console/src/pages/main.tsx', 'broken')
  expect(await build()).toMatchObject({ ok: false, output: 'main.tsx: no' })
  write('services/console/src/pages/main.tsx', 'repaired')
  await build()
  rmSync(join(root, 'services/console/dist'), { recursive: true })
  await build()
  expect(builds).toBe(3)
})

test('where the addon does not compile the start goes on and says why, once, and does not try again until its sources change', async () => {
  write('package.json', JSON.stringify({ workspaces: ['libs/*'] }))
  const install = `node -e "require('node:fs').appendFileSync('attempts', '.'); console.log('no compiler')"`
  write('libs/native-edge/package.json', JSON.stringify({ name: '@gateway/native-edge', scripts: { install } }))
  for (const name of ['install.mjs', 'sources.cjs', 'binding.gyp', 'native/addon.cc'])
    write(`libs/native-edge/${name}`, '')
  const attempts = () => readFileSync(join(root, 'libs/native-edge/attempts'), 'utf8')
  expect(await buildAddon(root)).toEqual({ ok: true, note: 'no compiler' })
  expect(await buildAddon(root)).toEqual({ ok: true })
  expect(attempts()).toBe('.')
  write('libs/native-edge/native/addon.cc', 'int changed;')
  await buildAddon(root)
  expect(attempts()).toBe('..')
})

test('a machine without a compiler compiles nothing, and compiles as soon as it has one', async () => {
  write('package.json', JSON.stringify({ workspaces: ['libs/*'] }))
  const install = `node -e "require('node:fs').appendFileSync('attempts', '.')"`
  write('libs/native-edge/package.json', JSON.stringify({ name: '@gateway/native-edge', scripts: { install } }))
  for (const name of ['install.mjs', 'sources.cjs', 'binding.gyp', 'native/addon.cc'])
    write(`libs/native-edge/${name}`, '')
  vi.stubEnv('PATH', join(root, 'empty'))
  expect([await buildAddon(root), await buildAddon(root)]).toEqual([{ ok: true }, { ok: true }])
  expect(existsSync(join(root, 'libs/native-edge/attempts'))).toBe(false)
  vi.unstubAllEnvs()
  for (let start = 0; start < 2; start++) await buildAddon(root)
  expect(readFileSync(join(root, 'libs/native-edge/attempts'), 'utf8')).toBe('.')
})
