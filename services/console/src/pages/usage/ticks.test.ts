import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roundTimes, roundValues } from './ticks.js'

test.each([
  [[1.4], [0, 0.5, 1, 1.5]],
  [[3], [0, 1, 2, 3]],
  [[1.2], [0, 0.5, 1, 1.5]],
  [[0.012], [0, 0.005, 0.01, 0.015]],
  [
    [7, 12],
    [0, 5, 10, 15],
  ],
  [[480_000_000], [0, 100_000_000, 200_000_000, 300_000_000, 400_000_000, 500_000_000]],
  [
    [0, 0],
    [0, 1],
  ],
  [[], [0, 1]],
])('the axis of %j has the labels %j', (values, labels) => {
  expect(roundValues(values)).toEqual(labels)
})

test('an axis of values covers all of them by at most six labels, whole ones for whole numbers', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(), fc.double({ min: 0.001, max: 1e12, noNaN: true })), { minLength: 1 }),
      (values) => {
        const labels = roundValues(values)
        expect(labels.length).toBeLessThanOrEqual(6)
        expect(labels.at(-1)).toBeGreaterThanOrEqual(Math.max(...values) * (1 - 1e-9))
        // More digits would be rounded in the labels.
        expect(labels.every((label) => Number(label.toPrecision(2)) === label)).toBe(true)
        if (values.every(Number.isInteger)) expect(labels.every(Number.isInteger)).toBe(true)
      },
    ),
  )
})

test('an axis of time has labels at round times of the viewer, and of days at their beginnings in UTC', () => {
  const at = (text: string) => new Date(text).getTime()
  const minutes = Array.from({ length: 61 }, (_, i) => at('2026-03-02T10:07:00') + i * 60_000)
  expect(roundTimes(minutes)).toEqual(
    ['10', '20', '30', '40', '50'].map((m) => at(`2026-03-02T10:${m}:00`)).concat(at('2026-03-02T11:00:00')),
  )
  const days = Array.from({ length: 5 }, (_, i) => Date.UTC(2026, 2, 1 + i))
  expect(roundTimes(days)).toEqual(days)
  expect(roundTimes([])).toEqual([0])
})
