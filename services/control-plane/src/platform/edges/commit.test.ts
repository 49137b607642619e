import type { Bus } from '@gateway/store/bus/bus.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { edgesFollow } from './commit.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A bus whose edges apply everything after this time, and which waits for them as requested. */
function busOf(appliedAfterMs: number) {
  let applied = false
  setTimeout(() => {
    applied = true
  }, appliedAfterMs)
  const awaitApplied = (_: unknown, timeoutMs: number) =>
    new Promise((resolve) => setTimeout(resolve, Math.min(appliedAfterMs, timeoutMs), { confirmed: [], pending: [] }))
  return { bus: { awaitApplied } as unknown as Bus, applied: () => applied }
}

test.each([
  ['by edges that take seconds on a busy machine', 3_000, true],
  ['but not for ever by one that does not follow', 60_000, false],
])('a response waits until the committed change is served, %s', async (_, appliedAfterMs, expected) => {
  const { bus, applied } = busOf(appliedAfterMs)
  const shutdown = new AbortController().signal
  const answered = edgesFollow({ bus, shutdown }, { revision: 1, mark: 'm' }).then(applied)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await answered).toBe(expected)
})
