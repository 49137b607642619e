import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createLog } from '@gateway/core/logging/log.js'
import { afterAll, expect, test } from 'vitest'
import { DiskGate } from './disk-gate.js'
import { NotSpooled, SpooledBody } from './spooled-body.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'spooled-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

const folder = path.join(home, 'responses')
const disks = new DiskGate({ log: createLog('edge', 'silent'), threads: 4 })
const body = (caller = 'one') => new SpooledBody(disks, folder, caller)
const LARGE = Buffer.alloc(100_000, 'x')

test('a small body stays in memory', async () => {
  const small = body()
  for (const part of ['a', '', 'b']) await small.add(Buffer.from(part))
  expect(Buffer.from((await small.end()) as Uint8Array).toString()).toBe('ab')
  expect(fs.existsSync(folder)).toBe(false)
})

test('a large one is in a file without a name, in the order of its parts', async () => {
  const large = body()
  const parts = [LARGE, Buffer.from('1'), Buffer.alloc(70_000, 'y'), Buffer.from('2')]
  for (const part of parts) await large.add(part)
  const whole = await large.end()
  if (whole instanceof Uint8Array) throw new Error('a file was expected')
  large.discard()
  expect(fs.readdirSync(folder)).toEqual([])
  const read = Buffer.alloc(whole.length)
  fs.readSync(whole.fd, read, 0, read.length, whole.offset)
  expect(read.equals(Buffer.concat(parts))).toBe(true)
  whole.release()
})

test('one caller has at most half of the files, also while they are sent, and gets others when they are released', async () => {
  const sent = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const one = body('greedy')
      await one.add(LARGE)
      return one.end()
    }),
  )
  await expect(body('greedy').add(LARGE)).rejects.toThrow(NotSpooled)
  const other = body('other')
  await other.add(LARGE)
  other.discard()
  for (const whole of sent) if (!(whole instanceof Uint8Array)) whole.release()
  const next = body('greedy')
  await next.add(LARGE)
  next.discard()
})

test('a disk that cannot be written is a refusal, and leaves nothing', async () => {
  const file = path.join(home, 'no-folder')
  fs.writeFileSync(file, '')
  const failing = new SpooledBody(disks, file, 'one')
  await expect(failing.add(LARGE)).rejects.toThrow(NotSpooled)
  failing.discard()
})
