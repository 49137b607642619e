import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeBundles } from './bundles.mjs'

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
  const bundle = join(await makeBundles(root), 'services/edge/dist/main.js')
  rmSync(join(root, 'services/edge/dist/word.js'))
  expect(execFileSync(process.execPath, [bundle], { encoding: 'utf8' })).toBe(`one file://${main}\n`)
})

test('the newest other bundles stay, because a gateway may run from them', async () => {
  const made = []
  for (const word of ['one', 'second', 'third one']) {
    say(word)
    made.push((await makeBundles(root)).split('/').at(-1))
  }
  expect(readdirSync(join(root, 'node_modules/.bundles')).sort()).toEqual(made.slice(1).sort())
})
