import { expect, test } from 'vitest'
import { nextEarly, restartDelayMs } from './restart-delay.js'

test('a worker that had lived is replaced at once, however often', () => {
  let early = 0
  for (let i = 0; i < 10; i++) early = nextEarly(early, 60_000)
  expect(restartDelayMs(early)).toBe(0)
})

test('workers that die again and again right after their start are replaced ever more slowly, up to a bound', () => {
  let early = 0
  const delays = Array.from({ length: 12 }, () => {
    early = nextEarly(early, 100)
    return restartDelayMs(early)
  })
  expect(delays.slice(0, 5)).toEqual([0, 0, 0, 250, 500])
  expect(delays.at(-1)).toBe(10_000)
  expect(restartDelayMs(nextEarly(early, 60_000))).toBe(0)
})
