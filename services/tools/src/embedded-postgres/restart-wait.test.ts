import { expect, test } from 'vitest'
import { waitBeforeRestart } from './restart-wait.js'

test('a Postgres that crashes is started again for some seconds, and then given up', () => {
  expect(waitBeforeRestart(0, 'it ended with SIGKILL')).toBeGreaterThan(0)
  expect(waitBeforeRestart(1000, 'it ended with SIGKILL')).toBeNull()
})

test('one whose disk is full is started again for as long as that takes', () => {
  expect(
    waitBeforeRestart(1000, 'could not write to file "pg_wal/xlogtemp.1": No space left on device'),
  ).toBeGreaterThan(0)
  expect(
    waitBeforeRestart(1000, 'could not extend file "base/1/2691": wrote only 4096 of 8192 bytes at block 9'),
  ).toBeGreaterThan(0)
})
