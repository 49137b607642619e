import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildConsole, consoleIsDue } from './console.mjs'

let root

/** A checkout with a console of one page, and a bundler that makes a file or fails as it is told. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'console-build-'))
  write('services/console/vite.config.ts', '')
  write('services/console/package.json', '{}')
  write('services/console/index.html', '<p>')
  write('services/console/public/icon.svg', '<svg/>')
  write('services/console/src/pages/main.tsx', 'one')
  write(
    'node_modules/vite/bin/vite.js',
    `const fs = require('node:fs')
    if (fs.readFileSync('src/pages/main.tsx', 'utf8') === 'broken') { console.error('main.tsx: no'); process.exit(1) }
    fs.rmSync('dist', { recursive: true, force: true })
    fs.mkdirSync('dist')`,
  )
})
afterEach(() => rmSync(root, { recursive: true }))

function write(path, content) {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), content)
}

test('the console is built once for each change of any of its sources', async () => {
  expect(consoleIsDue(root)).toBe(true)
  expect(await buildConsole(root)).toEqual({ ok: true })
  expect(consoleIsDue(root)).toBe(false)
  write('services/console/src/pages/main.tsx', 'two')
  expect(consoleIsDue(root)).toBe(true)
  await buildConsole(root)
  write('services/console/public/icon.svg', '<svg></svg>')
  expect(consoleIsDue(root)).toBe(true)
})

test('a build that was asked for by hand counts like one of a start', async () => {
  const setup = fileURLToPath(new URL('.', import.meta.url))
  for (const file of ['build-console.mjs', 'console.mjs', 'run-tool.mjs'])
    write(`services/launcher/setup/${file}`, readFileSync(join(setup, file)))
  const { build } = JSON.parse(readFileSync(join(setup, '../../console/package.json'), 'utf8')).scripts
  write('services/console/package.json', JSON.stringify({ scripts: { build } }))
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: join(root, 'services/console') })
  expect(consoleIsDue(root)).toBe(false)
  write('services/console/src/pages/main.tsx', 'broken')
  expect(() =>
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: join(root, 'services/console'), stdio: 'pipe' }),
  ).toThrow(/main.tsx: no/)
})

test('a build that failed, and one that was removed, are due again', async () => {
  write('services/console/src/pages/main.tsx', 'broken')
  expect(await buildConsole(root)).toMatchObject({ ok: false, output: 'main.tsx: no' })
  expect(consoleIsDue(root)).toBe(true)
  write('services/console/src/pages/main.tsx', 'mended')
  await buildConsole(root)
  rmSync(join(root, 'services/console/dist'), { recursive: true })
  expect(consoleIsDue(root)).toBe(true)
})

test('a checkout without a console has nothing to build', () => {
  rmSync(join(root, 'services/console'), { recursive: true })
  expect(consoleIsDue(root)).toBe(false)
  expect(existsSync(join(root, 'services'))).toBe(true)
})
