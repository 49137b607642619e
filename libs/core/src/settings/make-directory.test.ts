import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDirectory, makePrivateDirectories } from './make-directory.js'

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

test('private directories are closed to other users, also if they existed, and one that cannot be made is left out', () => {
  mkdirSync(join(dir, 'open'), { mode: 0o755 })
  writeFileSync(join(dir, 'file'), '')
  makePrivateDirectories([join(dir, 'open'), join(dir, 'file/below'), join(dir, 'new')])
  for (const name of ['open', 'new']) expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o700])
})
