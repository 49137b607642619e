import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { unreadable } from './unreadable.js'

const thrownBy = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

test.each([
  ['a recursion that is too deep', () => JSON.stringify(JSON.parse(`${'['.repeat(1e5)}${']'.repeat(1e5)}`))],
  ['a read beyond the end', () => Buffer.alloc(1).readUInt32LE(9)],
  ['a field of nothing', () => (JSON.parse('null') as { a: unknown }).a],
  ['text that is no JSON', () => JSON.parse('{')],
])('a reader’s error means that content is unreadable: %s', (_, act) => {
  expect(unreadable(thrownBy(act))).toMatchObject({ state: 'unreadable', why: expect.stringContaining('its content') })
})

test.each(['EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO'])('%s says nothing about the disk', (code) => {
  expect(unreadable(Object.assign(new Error(`${code}: a name`), { code }))).toMatchObject({ state: 'unreadable' })
})

test('an error of the disk, and one with a message, still end a scan', () => {
  expect(unreadable(thrownBy(() => readFileSync('/nowhere')))).toBeNull()
  expect(unreadable(new Error('this process may not read it'))).toBeNull()
})
