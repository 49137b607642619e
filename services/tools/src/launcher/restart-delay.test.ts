import { expect, test } from 'vitest'
import { failuresInARow, restartDelayMs } from './restart-delay.js'

test('the first restart comes soon, and every further one in a row takes twice as long', () => {
  expect([1, 2, 3, 4].map(restartDelayMs)).toEqual([100, 200, 400, 800])
})

test('a child that never recovers is still started every ten seconds', () => {
  expect(restartDelayMs(8)).toBe(10_000)
  expect(restartDelayMs(5000)).toBe(10_000)
})

test('a failure after a long sound run counts as the first', () => {
  expect(failuresInARow(7, 29_999)).toBe(8)
  expect(failuresInARow(7, 30_000)).toBe(1)
})
