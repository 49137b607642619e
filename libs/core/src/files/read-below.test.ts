import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { blockWhileFast } from './paced-calls.js'
import { readBelow } from './read-below.js'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'read-below-'))
  mkdirSync(join(dir, 'root'))
  writeFileSync(join(dir, 'outside.txt'), 'outside')
  writeFileSync(join(dir, 'root/inside.txt'), 'inside')
  symlinkSync('../outside.txt', join(dir, 'root/link.txt'))
})
afterAll(() => rmSync(dir, { recursive: true }))
// Other files of tests run in this process.
afterEach(() => blockWhileFast(false))

test.each([false, true])('a file below the root is read as a whole (blocking: %s)', async (blocks) => {
  blockWhileFast(blocks)
  const read = await readBelow(join(dir, 'root'), 'inside.txt', 6)
  expect(read).toMatchObject({ ok: true, content: Buffer.from('inside') })
})

test.each([
  ['link.txt', 'outside'],
  ['../outside.txt', 'outside'],
  ['nothing.txt', 'absent'],
  ['.', 'not_a_file'],
])('%s is not read: %s', async (file, reason) => {
  expect(await readBelow(join(dir, 'root'), file, 100)).toEqual({ ok: false, reason })
})

test('a larger file is not read', async () => {
  expect(await readBelow(join(dir, 'root'), 'inside.txt', 5)).toEqual({ ok: false, reason: 'too_large' })
})
