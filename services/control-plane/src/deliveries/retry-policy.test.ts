import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_RETRY_AFTER_SECONDS, nextStep, retryAfterSeconds } from './retry-policy.js'

const NOW = Date.UTC(2026, 0, 1)
const WAITS = [30, 60, 60]
const failed = (retryAfter: string | null = null) => ({ delivered: false, retryAfter })

test('a delivery that always fails is tried four times, after 30, 60 and 60 seconds', () => {
  expect([1, 2, 3, 4].map((attempt) => nextStep(failed(), attempt, WAITS, NOW))).toEqual([
    { status: 'retrying', waitSeconds: 30 },
    { status: 'retrying', waitSeconds: 60 },
    { status: 'retrying', waitSeconds: 60 },
    { status: 'failed' },
  ])
})

test('whatever the waits, a failing delivery ends after as many retries as there are waits', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { maxLength: 20 }), fc.option(fc.string()), (waits, retryAfter) => {
      let attempt = 1
      while (nextStep(failed(retryAfter), attempt, waits, NOW).status === 'retrying') attempt++
      expect(attempt).toBe(waits.length + 1)
    }),
  )
})

test('a wait is never shorter than decided and never longer than the limit on Retry-After, whatever a receiver sends', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat().map(String),
        fc.date().map((date) => date.toUTCString()),
      ),
      (retryAfter) => {
        const step = nextStep(failed(retryAfter), 1, WAITS, NOW)
        expect(step).toMatchObject({ status: 'retrying' })
        const wait = (step as { waitSeconds: number }).waitSeconds
        expect(wait).toBeGreaterThanOrEqual(30)
        expect(wait).toBeLessThanOrEqual(MAX_RETRY_AFTER_SECONDS)
      },
    ),
  )
})

test('success ends a delivery at any attempt', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), (attempt) => {
      expect(nextStep({ delivered: true, retryAfter: '5' }, attempt, WAITS, NOW)).toEqual({ status: 'succeeded' })
    }),
  )
})

test('Retry-After is parsed as seconds and as an HTTP date, and otherwise ignored', () => {
  expect(retryAfterSeconds('120', NOW)).toBe(120)
  expect(retryAfterSeconds('Thu, 01 Jan 2026 00:02:00 GMT', NOW)).toBe(120)
  for (const useless of ['', '-5', '1.5', '1e3', 'soon', '2027-01-01', 'Wed, 31 Dec 2025 23:59:59 GMT']) {
    expect(retryAfterSeconds(useless, NOW), useless).toBeNull()
  }
})
