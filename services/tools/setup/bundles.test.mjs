import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleOrFile, makeBundles } from './bundles.mjs'

let root
let main

/** A checkout with one compiled process of two modules. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bundles-'))
  main = join(root, 'services/edge/dist/main.js')
  for (const folder of ['libs', 'node_modules', 'services/edge/dist'])
    mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'package-lock.json'), '{}')
  writeFileSync(main, "import { word } from './word.js'\nconsole.log(word, import.meta.url)")
  say('one')
})
afterEach(() => rmSync(root, { recursive: true }))

const say = (word) => writeFileSync(join(root, 'services/edge/dist/word.js'), `export const word = '${word}'`)

test('the bundle of a compiled file runs as if it were that file', async () => {
  expect(bundleOrFile(root, main)).toBe(main)
  const folder = await makeBundles(root)
  const bundle = bundleOrFile(root, main)
  expect(bundle).toBe(join(folder, 'services/edge/dist/main.js'))
  rmSync(join(root, 'services/edge/dist/word.js'))
  expect(execFileSync(process.execPath, [bundle], { encoding: 'utf8' })).toBe(`one file://${main}\n`)
})

test('a file runs as it was compiled if a bundle is older or was not made', async () => {
  await makeBundles(root)
  say('another')
  expect(bundleOrFile(root, main)).toBe(main)
  expect(bundleOrFile(root, join(root, 'services/edge/dist/word.js'))).toBe(join(root, 'services/edge/dist/word.js'))
})

test('a package that is not bundled is the one of the library that imports it', async () => {
  const install = (below, version) => {
    const folder = join(root, below, 'node_modules/jsonc-parser')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'index.js'), `exports.version = '${version}'`)
  }
  mkdirSync(join(root, 'libs/styles/dist'), { recursive: true })
  writeFileSync(join(root, 'libs/styles/dist/parse.js'), "export { version } from 'jsonc-parser'")
  writeFileSync(main, "import { version } from '../../../libs/styles/dist/parse.js'\nconsole.log(version)")
  install('libs/styles', '3.0.0')
  for (const others of [() => {}, () => install('.', '2.0.0')]) {
    others()
    await makeBundles(root)
    expect(execFileSync(process.execPath, [bundleOrFile(root, main)], { encoding: 'utf8' })).toBe('3.0.0\n')
    rmSync(join(root, 'node_modules/.bundles'), { recursive: true })
  }
})

test('an error in a bundle names the line of the source', async () => {
  const places = { version: 3, sources: ['../src/main.ts'], names: [], mappings: 'AAQA' }
  writeFileSync(main, `throw new Error('wrong')\n//# sourceMappingURL=main.js.map`)
  writeFileSync(`${main}.map`, JSON.stringify(places))
  await makeBundles(root)
  const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', bundleOrFile(root, main)], {
    encoding: 'utf8',
  })
  expect(stderr).toContain(`${join(root, 'services/edge/src/main.ts')}:9`)
})

test('bundles that are made several times at once are made, and those that another process is making stay', async () => {
  const made = await Promise.all([makeBundles(root), makeBundles(root), makeBundles(root)])
  expect(new Set(made).size).toBe(1)
  const folders = join(root, 'node_modules/.bundles')
  const [alive, dead] = [process.ppid, spawnSync('true').pid].map((pid) =>
    join(folders, `0123456789abcdef.${pid}.Abc123`),
  )
  for (const folder of [alive, dead]) mkdirSync(folder)
  for (const folder of [alive, dead]) utimesSync(folder, 0, 0)
  for (const word of ['two', 'three']) {
    say(word)
    await makeBundles(root)
  }
  expect([existsSync(alive), existsSync(dead)]).toEqual([true, false])
})

test('bundles from which a process runs stay, however many are made meanwhile', async () => {
  writeFileSync(main, "process.once('message', () => import('./word.js').then(({ word }) => process.send(word)))")
  const folder = await makeBundles(root)
  const running = spawn(process.execPath, [bundleOrFile(root, main)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    for (const word of ['two', 'three', 'four']) {
      say(word)
      await makeBundles(root)
    }
    expect(readdirSync(join(root, 'node_modules/.bundles'))).toHaveLength(3)
    running.send('import')
    expect(await once(running, 'message')).toContain('one')
  } finally {
    running.disconnect()
    await once(running, 'exit')
  }
  say('the fifth')
  await makeBundles(root)
  expect(readdirSync(join(root, 'node_modules/.bundles'))).not.toContain(folder.split('/').at(-1))
})

test('the newest other bundles stay, because a gateway may run from them', async () => {
  const made = []
  for (const word of ['one', 'second', 'third one']) {
    say(word)
    made.push((await makeBundles(root)).split('/').at(-1))
  }
  expect(readdirSync(join(root, 'node_modules/.bundles')).sort()).toEqual(made.slice(1).sort())
})
