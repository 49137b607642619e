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
