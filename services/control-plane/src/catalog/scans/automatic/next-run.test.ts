import { expect, test } from 'vitest'
import { nextRun, turnOf } from './next-run.js'

const at = (text: string) => Date.parse(text)
const MINUTE = { every_seconds: 60 }

test('a schedule in seconds counts from the planned time, so that late checks do not accumulate', () => {
  const wanted = at('2026-05-01T00:00:00Z')
  expect(turnOf(MINUTE, null, wanted - 60_000)).toEqual({ due: false, nextMs: wanted })
  expect(turnOf(MINUTE, wanted, wanted - 1)).toEqual({ due: false, nextMs: wanted })
  expect(turnOf(MINUTE, wanted, wanted + 900)).toEqual({ due: true, nextMs: wanted + 60_000 })
})

test('after ten missed scans one is due', () => {
  const wanted = at('2026-05-01T00:00:00Z')
  const now = wanted + 10 * 60_000 + 5
  const turn = turnOf(MINUTE, wanted, now)
  expect(turn).toEqual({ due: true, nextMs: now + 60_000 })
  expect(turnOf(MINUTE, turn.nextMs, now + 1000).due).toBe(false)
})

test('a clock that goes back makes nothing due, and no source waits until it has caught up', () => {
  const now = at('2026-05-01T00:00:00Z')
  expect(turnOf(MINUTE, now + 86_400_000, now)).toEqual({ due: false, nextMs: now + 60_000 })
  const daily = { cron: '0 3 * * *', time_zone: 'UTC' }
  expect(turnOf(daily, at('2026-06-01T03:00:00Z'), now)).toEqual({ due: false, nextMs: at('2026-05-01T03:00:00Z') })
})

test('a cron expression uses its time zone, also over the change to summer time', () => {
  const berlin = { cron: '30 4 * * *', time_zone: 'Europe/Berlin' }
  expect(nextRun(berlin, at('2026-03-28T00:00:00Z'))).toBe(at('2026-03-28T03:30:00Z'))
  expect(nextRun(berlin, at('2026-03-28T04:00:00Z'))).toBe(at('2026-03-29T02:30:00Z'))
  expect(nextRun({ cron: '*/5 * * * *' }, at('2026-05-01T00:02:00Z'))).toBe(at('2026-05-01T00:05:00Z'))
})

test('invalid cron expressions and time zones are refused, and a day that never comes has no next run', () => {
  for (const cron of ['* * * * * *', 'every day', '61 * * * *']) expect(() => nextRun({ cron }, 0)).toThrow()
  expect(() => nextRun({ cron: '0 3 * * *', time_zone: 'Mars/Olympus' }, 0)).toThrow()
  expect(nextRun({ cron: '0 0 30 2 *' }, at('2026-05-01T00:00:00Z'))).toBeNull()
})
