import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeFileAtomically } from './write-atomically.js'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'write-atomically-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

it('replaces a file by a new one, so that readers of the old file can continue', async () => {
  const file = path.join(folder, 'a')
  await writeFileAtomically(file, 'old')
  const fd = fs.openSync(file, 'r')
  await writeFileAtomically(file, 'new', { mode: 0o600, durable: true })
  expect(fs.readFileSync(fd, 'utf8')).toBe('old')
  expect(fs.readFileSync(file, 'utf8')).toBe('new')
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  fs.closeSync(fd)
})

it('leaves only the old file if writing fails', async () => {
  fs.mkdirSync(path.join(folder, 'a'))
  await expect(writeFileAtomically(path.join(folder, 'a'), 'x')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
  expect(fs.readdirSync(folder)).toEqual(['a'])
})
