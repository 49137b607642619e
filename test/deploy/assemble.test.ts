import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { assemble, neededPackages } from '../../deploy/images/assemble.mjs'

const packages = {
  '': {},
  'services/edge': { dependencies: { '@gateway/lib': '1', a: '1' }, devDependencies: { vite: '1' } },
  'libs/lib': { dependencies: { a: '2', 'left-out': '1' } },
  'node_modules/@gateway/lib': { link: true, resolved: 'libs/lib' },
  'node_modules/a': { optionalDependencies: { 'for-another-platform': '1' }, peerDependencies: { 'absent-peer': '1' } },
  'libs/lib/node_modules/a': { dependencies: { b: '1' } },
  'node_modules/b': {},
  'node_modules/left-out': { dependencies: { 'only-through-it': '1' } },
  'node_modules/only-through-it': {},
  'node_modules/vite': {},
}

test('an image gets the packages that its service needs at run time, resolved as Node does', () => {
  expect([...neededPackages(packages, ['services/edge'], new Set(['left-out']))].sort()).toEqual([
    'libs/lib',
    'libs/lib/node_modules/a',
    'node_modules/@gateway/lib',
    'node_modules/a',
    'node_modules/b',
    'services/edge',
  ])
})

test('a required package that is not installed stops the build and is named', () => {
  const { 'node_modules/b': _, ...rest } = packages
  expect(() => neededPackages(rest, ['services/edge'])).toThrow('b, which libs/lib/node_modules/a needs')
})

test('links inside a package point into the copy, not back to the source', () => {
  const root = mkdtempSync(join(tmpdir(), 'assemble-'))
  mkdirSync(join(root, 'node_modules/native'), { recursive: true })
  symlinkSync('lib.so.6', join(root, 'node_modules/native/lib.so'))
  const packages = { 'services/edge': { dependencies: { native: '1' } }, 'node_modules/native': {} }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  writeFileSync(join(root, 'package.json'), '{}')
  assemble(root, join(root, 'out'), ['services/edge'])
  expect(readlinkSync(join(root, 'out/node_modules/native/lib.so'))).toBe('lib.so.6')
  rmSync(root, { recursive: true })
})

test('modules for bundlers are left out, and modules for Node are included', () => {
  const root = mkdtempSync(join(tmpdir(), 'assemble-'))
  for (const folder of ['dist-cjs', 'dist-es', 'build/src', 'build/esm', 'build/esnext']) {
    mkdirSync(join(root, 'node_modules/sdk', folder), { recursive: true })
    writeFileSync(join(root, 'node_modules/sdk', folder, 'index.js'), '')
  }
  const packages = { 'services/edge': { dependencies: { sdk: '1' } }, 'node_modules/sdk': {} }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  writeFileSync(join(root, 'package.json'), '{}')
  assemble(root, join(root, 'out'), ['services/edge'])
  const copied = readdirSync(join(root, 'out/node_modules/sdk'), { recursive: true })
  expect(copied.sort()).toEqual(['build', 'build/src', 'build/src/index.js', 'dist-cjs', 'dist-cjs/index.js'])
  rmSync(root, { recursive: true })
})

test('an image keeps the copies of tests that the documentation links to, and no tests of its services', () => {
  const root = mkdtempSync(join(tmpdir(), 'assemble-'))
  for (const folder of ['dist/files/test', 'dist/src']) {
    mkdirSync(join(root, 'services/tools/docs', folder), { recursive: true })
    writeFileSync(join(root, 'services/tools/docs', folder, 'tokens.test.ts.txt'), '')
  }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { 'services/tools': {} } }))
  writeFileSync(join(root, 'package.json'), '{}')
  assemble(root, join(root, 'out'), ['services/tools'], { anyNode: true })
  const copied = readdirSync(join(root, 'out/services/tools/docs/dist'), { recursive: true })
  expect(copied.sort()).toEqual(['files', 'files/test', 'files/test/tokens.test.ts.txt', 'src'])
  rmSync(root, { recursive: true })
})

test('the targets of links in the documentation exist in the image builds', () => {
  const root = resolve(import.meta.dirname, '../..')
  const docs = join(root, 'docs')
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const linked = pages.flatMap((page) => {
    const links = readFileSync(join(docs, page), 'utf8').matchAll(/\]\(([^):#]+)/g)
    return [...links].map(([, to]) => relative(root, resolve(docs, page, '..', to as string)))
  })
  expect(linked).toContain('bench/results/comparison.md')
  expect(linked.filter((path) => ignored.some((one) => `${path}/`.startsWith(`${one}/`)))).toEqual([])
})

test('no file of an image imports a package that the image leaves out', () => {
  const root = resolve(import.meta.dirname, '../..')
  const recipe = readFileSync(join(root, 'deploy/images/Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const commands = [...recipe.matchAll(/assemble\.mjs (\S+) ([^&\n]*)/g)]
  expect(commands.map(([, out]) => out)).toEqual(['/out/edge', '/out/renderer', '/out/control-plane'])
  for (const [, out = '', words = ''] of commands) {
    const without = [...words.matchAll(/--without (\S+)/g)].map(([, name = '']) => name)
    const workspaces = words
      .replaceAll(/--without \S+/g, '')
      .trim()
      .split(/\s+/)
    const needed = [...neededPackages(lock, workspaces, new Set(without))]
    const folders = needed.filter((path) => /^(?:libs|services)\/[^/]+$/.test(path) && lock[path]?.link !== true)
    // Optional modules are loaded by `import()` and may be missing.
    const wrong = folders.flatMap((folder) =>
      readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|(?:^|\/)testing\//.test(file))
        .flatMap((file) => {
          const text = readFileSync(join(root, folder, 'src', file), 'utf8')
          const imported = without.filter((name) =>
            new RegExp(`^(?:import (?!type).*|\\} )from '${name}['/]`, 'm').test(text),
          )
          return imported.map((name) => `${out}: ${folder}/src/${file} imports ${name}`)
        }),
    )
    expect(wrong).toEqual([])
  }
})
