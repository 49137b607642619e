import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDirectory } from './make-directory.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'make-directory-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test('a directory is created with its missing parents, and again without harm', () => {
  makeDirectory(join(dir, 'a/b/c'))
  makeDirectory(join(dir, 'a/b/c'))
  expect(statSync(join(dir, 'a/b/c')).isDirectory()).toBe(true)
})

test('nothing is created below a file', () => {
  writeFileSync(join(dir, 'file'), '')
  expect(() => makeDirectory(join(dir, 'file/below'))).toThrow(/ENOTDIR/)
})
