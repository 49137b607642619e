import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openJobLog } from './job-log.js'

const dir = mkdtempSync(join(tmpdir(), 'job-log-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('a log keeps the written text up to its limit', async () => {
  const log = await openJobLog(dir, 'a', 10)
  log.stream.write('12345\n')
  log.stream.write('6789 and more\n')
  log.stream.write('and more\n')
  await log.close()
  expect(readFileSync(log.path, 'utf8')).toBe('12345\n6789\nthe log is cut here: it has reached its limit\n')
})

test('a log that cannot be written blocks nothing', async () => {
  writeFileSync(join(dir, 'file'), '')
  const log = await openJobLog(dir, 'nowhere/b')
  for (let i = 0; i < 1000; i++) log.stream.write('x'.repeat(1000))
  await log.close()
  expect(log.stream.writableFinished).toBe(true)
})
