import { expect, test } from 'vitest'
import { judgeCanary, LEAST_JUDGED } from './default-switch-steps.js'

const versions = { version: 'v2', beforeVersion: 'v1' }
const counts = (requests: number, missing = 0, failed = 0) => ({ requests, missing, failed })
const judge = (before: ReturnType<typeof counts>, after: ReturnType<typeof counts>, hasEnded = false) =>
  judgeCanary({ ...versions, before, after }, 0.01, hasEnded)?.code ?? null

test.each([
  ['as many 404s per request as before', counts(1000, 100), counts(100, 10), null],
  ['within the tolerance', counts(1000, 100), counts(100, 11), null],
  ['beyond the tolerance', counts(1000, 100), counts(100, 12), 'canary_missing'],
  ['5xx count by themselves', counts(1000, 100), counts(100, 0, 2), 'canary_failed'],
  ['fewer 404s do not make up for 5xx', counts(1000, 500), counts(1000, 0, 11), 'canary_failed'],
  ['nobody asked for the version before', counts(0), counts(LEAST_JUDGED, LEAST_JUDGED), 'canary_missing'],
  ['too few to tell', counts(1000), counts(LEAST_JUDGED - 1, LEAST_JUDGED - 1), null],
])('%s', (_, before, after, code) => {
  expect(judge(before, after)).toBe(code)
})

test('at its end a canary is judged by the requests that it had, however few', () => {
  expect(judge(counts(10), counts(3, 2), true)).toBe('canary_missing')
  expect(judge(counts(10), counts(1, 0, 1), true)).toBe('canary_failed')
  expect(judge(counts(10), counts(3), true)).toBeNull()
  expect(judge(counts(0), counts(0), true)).toBeNull()
})
