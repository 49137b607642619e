import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SupervisorLink } from './supervisor-link.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/**
 * Returns a link, and a function that simulates messages of the supervisor. The channel of the test's own process is not used.
 */
function linked() {
  const on = vi.spyOn(process, 'on').mockReturnValue(process)
  vi.spyOn(process, 'once').mockReturnValue(process)
  vi.spyOn(process, 'send').mockReturnValue(true)
  const link = new SupervisorLink()
  const [, hear] = on.mock.calls.find(([event]) => event === 'message') ?? []
  return { link, hear: hear as (message: unknown) => void }
}

test('slow sums on a busy machine are awaited, those of a supervisor that hangs are not', async () => {
  const { link, hear } = linked()
  const late = link.totals()
  await vi.advanceTimersByTimeAsync(3_000)
  hear({ kind: 'totals', id: 1, text: 'sums' })
  expect(await late).toBe('sums')
  const never = expect(link.totals()).rejects.toThrow('the supervisor did not answer in time')
  await vi.advanceTimersByTimeAsync(5_000)
  await never
})

test('a process reports its metrics each second while it has requests, and rarely while it is idle', async () => {
  const { link } = linked()
  const send = vi.mocked(process.send as NonNullable<typeof process.send>)
  const reports = () => send.mock.calls.filter(([message]) => (message as { kind: string }).kind === 'report').length
  let requests = 0
  link.report({ report: async () => [] }, () => requests)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(reports()).toBe(1)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reports()).toBe(1)
  requests++
  await vi.advanceTimersByTimeAsync(1_000)
  expect(reports()).toBe(2)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(reports()).toBe(6)
})
