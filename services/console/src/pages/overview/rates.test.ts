import type { TrafficPoint } from '@gateway/contracts/traffic.js'
import { expect, test } from 'vitest'
import { rateOf, shareFromMemory } from './rates.js'

const span = (amounts: Partial<TrafficPoint>): TrafficPoint => ({
  at: '2026-01-01T00:00:00Z',
  seconds: 5,
  requests: 0,
  tiles: 0,
  tiles_missing: 0,
  memory_hits: 0,
  downloads: 0,
  auth_failures: 0,
  server_errors: 0,
  bytes_sent: 0,
  ...amounts,
})

test('the rates of several processes at the same time add up, each by its own seconds', () => {
  expect(rateOf([span({ requests: 50 }), span({ requests: 20, seconds: 10 })], 'requests')).toBe(12)
  expect(rateOf([], 'requests')).toBe(0)
})

test('the share from memory weighs tiles, not processes, and is null without tiles', () => {
  expect(shareFromMemory([span({ tiles: 90, memory_hits: 90 }), span({ tiles: 10 })])).toBe(0.9)
  expect(shareFromMemory([span({})])).toBeNull()
})
