import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { whileGrowing } from './zip-store.js'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'while-growing-'))
  file = path.join(folder, 'file')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

test('work whose file stops growing is cancelled', async () => {
  fs.writeFileSync(file, 'begun')
  const called = await whileGrowing(
    file,
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    30,
    10,
  )
  expect(called).toBe('stalled')
})

test('work whose file grows is awaited for any time', async () => {
  let rounds = 0
  const done = await whileGrowing(
    file,
    (signal) =>
      new Promise<string>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        const timer = setInterval(() => {
          fs.appendFileSync(file, 'x')
          if (++rounds < 30) return
          clearInterval(timer)
          resolve('done')
        }, 5)
      }),
    2_000,
    10,
  )
  expect(done).toBe('done')
})

test('an error of the work is propagated', async () => {
  await expect(whileGrowing(file, () => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO')
})
