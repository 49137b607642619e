import { expect, test } from 'vitest'
import { createFormats } from './format.js'

const en = createFormats('en')
const NOW = Date.parse('2026-06-01T12:00:00Z')

test('a time span is shown in the largest unit that it fills', () => {
  expect(en.ago('2026-06-01T11:59:40Z', NOW)).toBe('20 seconds ago')
  expect(en.ago('2026-06-01T10:00:00Z', NOW)).toBe('2 hours ago')
  expect(en.ago('2026-06-04T12:00:00Z', NOW)).toBe('in 3 days')
  expect(createFormats('zh').ago('2026-06-01T11:58:00Z', NOW)).toBe('2分钟前')
})

test('bytes are shown in decimal units', () => {
  expect(en.bytes(0)).toBe('0 B')
  expect(en.bytes(999)).toBe('999 B')
  expect(en.bytes(1000)).toBe('1 kB')
  expect(en.bytes(1_234_567)).toBe('1.2 MB')
  expect(en.bytes(9e17)).toBe('900,000 TB')
})

test('durations are shown in at most two units, with the plural forms of the language', () => {
  expect([2_592_000, 86_400, 5_400, 75, 1, 0.5, 119.7, 0].map(en.duration)).toEqual([
    '30 days',
    '1 day',
    '1 hour, 30 minutes',
    '1 minute, 15 seconds',
    '1 second',
    '0.5 seconds',
    '2 minutes',
    '0 seconds',
  ])
  expect(createFormats('zh').duration(75)).toBe('1分钟15秒钟')
})
