import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Presence } from '@gateway/store/edge-presence.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Announcements } from './announcements.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const STATE = { revision: 1, mark: 'm' }
const EDGE: EdgePresence = {
  id: 'e',
  host: 'h',
  pid: 1,
  version: '1',
  started_at: '2026-03-01T12:00:00.000Z',
  seen_at: '2026-03-01T12:00:00.000Z',
  applied_revision: 1,
  applied_mark: 'm',
}

test('a wait uses presence of the last moment, and reads it ahead for the next one', async () => {
  const presence = vi.fn(async (): Promise<Presence> => ({ live: [EDGE], silent: [] }))
  const announcements = new Announcements(presence, async () => new Set())
  await announcements.awaitApplied(STATE, 1_000)
  await announcements.awaitApplied(STATE, 1_000)
  expect(presence).toHaveBeenCalledTimes(1)

  await vi.advanceTimersByTimeAsync(600)
  presence.mockImplementation(() => new Promise(() => {}))
  const { confirmed } = await announcements.awaitApplied(STATE, 1_000)
  expect(confirmed.map(({ id }) => id)).toEqual(['e'])
  await vi.advanceTimersByTimeAsync(100)
  expect(presence).toHaveBeenCalledTimes(2)

  // Older presence does not count, so that this wait depends on the reading that hangs.
  await vi.advanceTimersByTimeAsync(600)
  const late = vi.fn()
  void announcements.awaitApplied(STATE, 1_000).then(late)
  await vi.advanceTimersByTimeAsync(100)
  expect(late).not.toHaveBeenCalled()
})

test('a wait reads presence again while it has a silent process, which may have returned through the store', async () => {
  const stale = { ...EDGE, applied_revision: 0, applied_mark: 'l' }
  const presence = vi.fn(async (): Promise<Presence> => ({ live: [], silent: [stale] }))
  const announcements = new Announcements(presence, async () => new Set())
  const first = announcements.awaitApplied(STATE, 100)
  await vi.advanceTimersByTimeAsync(100)
  expect((await first).pending.map(({ id }) => id)).toEqual(['e'])

  presence.mockImplementation(async () => ({ live: [EDGE], silent: [] }))
  const { confirmed, pending } = await announcements.awaitApplied(STATE, 100)
  expect(confirmed.map(({ id }) => id)).toEqual(['e'])
  expect(pending).toEqual([])
})
