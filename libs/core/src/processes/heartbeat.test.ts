import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Heartbeat } from './heartbeat.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function watch(waitedMs = () => 0): { heartbeat: Heartbeat; onSilent: ReturnType<typeof vi.fn> } {
  const onSilent = vi.fn()
  return { heartbeat: new Heartbeat(onSilent, waitedMs), onSilent }
}

test('a beating process is not reported, and a silent one is reported once, within 5 seconds', () => {
  const { heartbeat, onSilent } = watch()
  for (let i = 0; i < 20; i++) {
    heartbeat.heard()
    vi.advanceTimersByTime(500)
  }
  expect(onSilent).not.toHaveBeenCalled()
  vi.advanceTimersByTime(4_500)
  expect(onSilent).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(60_000)
  expect(onSilent).toHaveBeenCalledOnce()
})

test('a process without a first beat is given the time of a slow start', () => {
  const { onSilent } = watch()
  vi.advanceTimersByTime(59_000)
  expect(onSilent).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2_000)
  expect(onSilent).toHaveBeenCalledOnce()
})

test('a process that waits for a processor is not silent, and one that then stops is reported within 5 seconds', () => {
  let waited = 7_000
  const { heartbeat, onSilent } = watch(() => waited)
  heartbeat.heard()
  for (let i = 0; i < 120; i++) {
    waited += 490
    vi.advanceTimersByTime(500)
  }
  expect(onSilent).not.toHaveBeenCalled()
  vi.advanceTimersByTime(4_500)
  expect(onSilent).toHaveBeenCalledOnce()
})

test('waiting for a processor before the last beat does not extend the allowed silence', () => {
  let waited = 0
  const { heartbeat, onSilent } = watch(() => waited)
  for (let i = 0; i < 20; i++) {
    vi.advanceTimersByTime(499)
    heartbeat.heard()
    waited += 500
  }
  vi.advanceTimersByTime(5_000)
  expect(onSilent).toHaveBeenCalledOnce()
})

test('a watcher that stood still itself restarts its count', () => {
  const { heartbeat, onSilent } = watch()
  heartbeat.heard()
  vi.advanceTimersByTime(3_000)
  // The clock advances while no code runs.
  const stood = performance.now() + 3_600_000
  vi.spyOn(performance, 'now').mockImplementation(() => stood)
  vi.advanceTimersByTime(500)
  vi.mocked(performance.now).mockRestore()
  expect(onSilent).not.toHaveBeenCalled()
  heartbeat.stop()
})

test('a process whose timers do not run beats in between if a beat is due, and never if it does not beat', async () => {
  vi.resetModules()
  const { beat, beatInBetween } = await import('./heartbeat.js')
  const send = vi.spyOn(process as { send: (message: unknown) => boolean }, 'send').mockImplementation(() => true)
  // No pause is allowed from here on, because the channel belongs to the test runner.
  beatInBetween()
  const beforeFirst = send.mock.calls.length
  beat()
  beatInBetween()
  const atOnce = send.mock.calls.length
  const later = performance.now() + 600
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later)
  beatInBetween()
  beatInBetween()
  const whenDue = send.mock.calls.length
  clock.mockRestore()
  send.mockRestore()
  expect([beforeFirst, atOnce, whenDue]).toEqual([0, 1, 2])
})
