import { expect, test } from 'vitest'
import { failuresInARow, restartDelayMs } from './restart-policy.js'

const WORKER = { soundAfterMs: 5_000, freeRestarts: 3, firstDelayMs: 250, longestDelayMs: 10_000 }
const SERVICE = { soundAfterMs: 30_000, freeRestarts: 0, firstDelayMs: 100, longestDelayMs: 10_000 }

test('a process that had lived is replaced at once, however often', () => {
  let failures = 0
  for (let i = 0; i < 10; i++) failures = failuresInARow(failures, 60_000, WORKER)
  expect(restartDelayMs(failures, WORKER)).toBe(0)
})

test('processes that repeatedly die right after their start are replaced ever more slowly, up to a limit', () => {
  let failures = 0
  const delays = Array.from({ length: 12 }, () => {
    failures = failuresInARow(failures, 100, WORKER)
    return restartDelayMs(failures, WORKER)
  })
  expect(delays.slice(0, 5)).toEqual([0, 0, 0, 250, 500])
  expect(delays.at(-1)).toBe(10_000)
  expect(restartDelayMs(failuresInARow(failures, 60_000, WORKER), WORKER)).toBe(0)
})

test('without free restarts the first one comes soon, and every further one in a row takes twice as long', () => {
  expect([1, 2, 3, 4].map((failures) => restartDelayMs(failures, SERVICE))).toEqual([100, 200, 400, 800])
  expect(restartDelayMs(5000, SERVICE)).toBe(10_000)
})

test('a failure after a long healthy run does not count', () => {
  expect(failuresInARow(7, 29_999, SERVICE)).toBe(8)
  expect(failuresInARow(7, 30_000, SERVICE)).toBe(0)
})
