import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StallWatch } from './stall-watch.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function reader() {
  return { keepWaiting: vi.fn(), stalled: vi.fn() }
}

test('a reader that reads nothing for a minute has stalled, and is kept until then', () => {
  const watch = new StallWatch(60_000)
  const stuck = reader()
  watch.add(stuck, 0)
  vi.advanceTimersByTime(59_000)
  expect(stuck.stalled).not.toHaveBeenCalled()
  expect(stuck.keepWaiting.mock.calls.length).toBeGreaterThan(10)
  vi.advanceTimersByTime(5_000)
  expect(stuck.stalled).toHaveBeenCalled()
})

test('bytes in flight extend the limit of a slow reader', () => {
  const watch = new StallWatch(60_000)
  const slow = reader()
  watch.add(slow, 120_000)
  vi.advanceTimersByTime(170_000)
  expect(slow.stalled).not.toHaveBeenCalled()
  vi.advanceTimersByTime(15_000)
  expect(slow.stalled).toHaveBeenCalled()
})

test('no timer runs without a transfer to watch', () => {
  const watch = new StallWatch(60_000)
  const one = reader()
  watch.add(one, 0)
  watch.forget(one)
  expect(vi.getTimerCount()).toBe(0)
})
