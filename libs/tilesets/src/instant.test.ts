import { expect, test } from 'vitest'
import { parseInstant } from './instant.js'

const NOW = Date.UTC(2026, 10, 25)

test.each([
  ['2026-05-01T10:00:00Z', '2026-05-01T10:00:00.000Z'],
  ['2026-05-01T10:00:00.123+02:00', '2026-05-01T08:00:00.123Z'],
  ['2026-05-01T10:00:00 02:00', '2026-05-01T08:00:00.000Z'],
  ['2026-05-01T10:00', '2026-05-01T10:00:00.000Z'],
  ['2026-05-01', '2026-05-01T00:00:00.000Z'],
  ['2026-05', '2026-05-01T00:00:00.000Z'],
  ['2026', '2026-01-01T00:00:00.000Z'],
  ['2026-05-01T00:00:00Z/2026-05-02T00:00:00Z', '2026-05-01T00:00:00.000Z'],
  ['current', new Date(NOW).toISOString()],
  ['', new Date(NOW).toISOString()],
])('%s means %s', (text, expected) => {
  expect(new Date(parseInstant(text, NOW) as number).toISOString()).toBe(expected)
})

test.each([
  'yesterday',
  '2026-13-01',
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '2026-05T10:00:00Z',
  '1 May 2026',
  '20260501',
  '2026-05-01T25:00:00Z',
  `2026${'0'.repeat(100)}`,
])('%s is not a time', (text) => {
  expect(parseInstant(text, NOW)).toBeNull()
})
