import { expect, test } from 'vitest'
import { secondsLeft } from './remaining.js'

const START = Date.parse('2026-03-01T08:00:00Z')
const job = { status: 'running', progress: 25, started_at: '2026-03-01T08:00:00Z' } as const

test('the remaining time is estimated by the speed so far, and rounded coarsely', () => {
  expect(secondsLeft(job, START + 11_000)).toBe(40)
  expect(secondsLeft(job, START + 61_000)).toBe(4 * 60)
  expect(secondsLeft(job, START + 3_600_000)).toBe(3 * 3600)
})

test('no time is estimated for a job that has just begun, does not run, or began in the future', () => {
  expect(secondsLeft({ ...job, progress: 1 }, START + 60_000)).toBeNull()
  expect(secondsLeft({ ...job, status: 'pending', started_at: null }, START + 60_000)).toBeNull()
  expect(secondsLeft({ ...job, status: 'succeeded', progress: 100 }, START + 60_000)).toBeNull()
  expect(secondsLeft(job, START - 60_000)).toBeNull()
})
