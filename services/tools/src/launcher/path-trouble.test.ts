import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pathTrouble } from './path-trouble.js'

test('an error that a person can fix says what happened, what to do and which setting leads elsewhere', () => {
  const dir = mkdtempSync(join(tmpdir(), 'path-trouble-'))
  const file = join(dir, 'file')
  writeFileSync(file, '')
  const thrown = () => {
    try {
      mkdirSync(join(file, 'below'))
    } catch (error) {
      return error
    }
  }
  expect(pathTrouble(thrown(), 'DATA_DIR')).toBe(
    `ENOTDIR: not a directory, mkdir '${file}/below'; remove the file that is in its place, or set DATA_DIR to another folder`,
  )
  rmSync(dir, { recursive: true })
})

test('other errors get no advice', () => {
  expect(pathTrouble(new TypeError('x is not a function'), 'DATA_DIR')).toBeNull()
  expect(pathTrouble(null, 'DATA_DIR')).toBeNull()
})
