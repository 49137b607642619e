// @vitest-environment happy-dom
import { expect, onTestFinished, test, vi } from 'vitest'
import { watchActivity } from './activity.js'

test('activity is reported after a pause and while it goes on, but not for every movement', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let reports = 0
  watchActivity(() => {
    reports++
  })
  const move = () => window.dispatchEvent(new Event('pointermove'))
  move()
  expect(reports).toBe(0)
  vi.advanceTimersByTime(60 * 60_000)
  for (let i = 0; i < 100; i++) move()
  expect(reports).toBe(1)
  vi.advanceTimersByTime(31_000)
  move()
  expect(reports).toBe(2)
})
