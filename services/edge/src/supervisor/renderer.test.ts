import { BROWSER_ENDED } from '@gateway/contracts/drawing.js'
import { expect, test } from 'vitest'
import { FailedStyles } from './renderer.js'

const ANSWER = { ok: false, reason: 'there was no progress for 20 s', isOfStyle: true } as const
const MINUTE = 60_000

test('a style that hangs is drawn again after twice the time of the failure before, up to an hour', () => {
  const failed = new FailedStyles()
  let now = 0
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    failed.note('city-1', ANSWER, now)
    expect(failed.current('city-1', now + minutes * MINUTE - 1)).toEqual(ANSWER)
    now += minutes * MINUTE
    expect(failed.current('city-1', now)).toBeNull()
  }
})

test('a style whose browser has ended is drawn again after seconds, and one that has been drawn has no failures', () => {
  const failed = new FailedStyles()
  const ended = { ...ANSWER, reason: BROWSER_ENDED }
  failed.note('city-1', ended, 0)
  expect([failed.current('city-1', 1_999), failed.current('city-1', 2_000)]).toEqual([ended, null])
  failed.note('city-1', ended, 2_000)
  expect([failed.current('city-1', 5_999), failed.current('city-1', 6_000)]).toEqual([ended, null])
  failed.forget('city-1')
  failed.note('city-1', ended, 6_000)
  expect(failed.current('city-1', 8_000)).toBeNull()
})

test('another revision of the style is drawn at once', () => {
  const failed = new FailedStyles()
  failed.note('city-1', ANSWER, 0)
  expect(failed.current('city-2', 1)).toBeNull()
})
