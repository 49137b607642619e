import { expect, test } from 'vitest'
import { AT_ONCE, bodyOf } from './default-timing.js'

const NOW = Date.UTC(2026, 10, 25)

test('a switch is sent as chosen', () => {
  expect(bodyOf('v2', AT_ONCE, NOW)).toEqual({ version: 'v2' })
  expect(bodyOf('v2', { ...AT_ONCE, mode: 'canary' }, NOW)).toEqual({
    version: 'v2',
    canary: { percent: 10, minutes: 30 },
  })
  const later = { ...AT_ONCE, mode: 'later', at: '2027-01-01T10:00' } as const
  expect(bodyOf('v2', later, NOW)).toEqual({ version: 'v2', at: new Date('2027-01-01T10:00').toISOString() })
})

test.each(['', '2020-01-01T10:00'])('%j is not a valid time for a switch', (at) => {
  expect(bodyOf('v2', { ...AT_ONCE, mode: 'later', at }, NOW)).toBeNull()
})
