import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { microsecondsOf, secondsFor } from '../kept/kept-files.js'

let file: string
beforeAll(() => {
  file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'file-time-')), 'file')
  fs.writeFileSync(file, '')
})
afterAll(() => fs.rmSync(path.dirname(file), { recursive: true }))

test('a time is read back to the microsecond', () => {
  const times = [0, 1, 999_999, 1_700_000_000_999_999, 2_147_483_647_000_001]
  for (let i = 0; i < 2_000; i++) times.push(randomInt(1_000_000_000) * 2_000_000 + randomInt(1_000_000))
  for (const time of times) {
    const seconds = secondsFor(BigInt(time))
    fs.utimesSync(file, seconds, seconds)
    expect(microsecondsOf(fs.statSync(file, { bigint: true }).mtimeNs)).toBe(BigInt(time))
  }
})
