import type { PermitAnswer, PermitRequest, RateLimit } from '@gateway/contracts/rate-limit.js'
import { expect, test } from 'vitest'
import { type Admission, RateLimiter } from './rate-limiter.js'

const ID = '0b9d3a52-5c1e-4b5f-9f57-2f1f4f3c7d10'
const LIMIT: RateLimit = { per_second: 10, burst: 5 }

/** A bucket that does not refill while no time passes. */
function sharedBucket(level: number) {
  const asked: PermitRequest[] = []
  const take = async (requests: readonly PermitRequest[]): Promise<PermitAnswer[]> =>
    requests.map((request) => {
      asked.push(request)
      const granted = Math.min(request.wanted, level)
      level -= granted
      return { granted, retryAfterMs: level >= 1 ? 0 : 100, processes: 2 }
    })
  return { asked, take }
}

const count = async (admissions: readonly (Admission | Promise<Admission>)[]) => {
  const settled = await Promise.all(admissions)
  return { admitted: settled.filter(({ ok }) => ok).length, refused: settled.filter(({ ok }) => !ok) }
}

test('simultaneous requests ask for permits together, and those beyond the supply are refused with a time to wait', async () => {
  const bucket = sharedBucket(5)
  const limiter = new RateLimiter(bucket.take, 1, () => 0)
  const { admitted, refused } = await count(Array.from({ length: 8 }, () => limiter.admit(ID, LIMIT)))
  expect(admitted).toBe(5)
  expect(refused).toHaveLength(3)
  expect(refused[0]).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 })
  expect(bucket.asked.length).toBeLessThanOrEqual(2)
})

test('no permits are requested while the bucket is known to be empty, and they are again afterwards', async () => {
  let now = 0
  const bucket = sharedBucket(0)
  const limiter = new RateLimiter(bucket.take, 1, () => now)
  await limiter.admit(ID, LIMIT)
  for (let i = 0; i < 50; i++) expect(limiter.admit(ID, LIMIT)).toMatchObject({ ok: false })
  expect(bucket.asked).toHaveLength(1)
  now = 101
  expect(await limiter.admit(ID, LIMIT)).toMatchObject({ ok: false })
  expect(bucket.asked).toHaveLength(2)
})

test('a fast token takes permits ahead, and loses those not used within a second', async () => {
  let now = 0
  const bucket = sharedBucket(1_000)
  const limiter = new RateLimiter(bucket.take, 1, () => now)
  const fast = { per_second: 1_000, burst: 1_000 }
  await limiter.admit(ID, fast)
  for (let i = 1; i < 20; i++) expect(limiter.admit(ID, fast)).toEqual({ ok: true })
  expect(bucket.asked).toHaveLength(1)
  await limiter.admit(ID, fast)
  now = 1_000
  expect(limiter.admit(ID, fast)).toBeInstanceOf(Promise)
})

test('a changed limit takes effect at once', async () => {
  const bucket = sharedBucket(0)
  const limiter = new RateLimiter(bucket.take, 1, () => 0)
  await limiter.admit(ID, LIMIT)
  const admission = limiter.admit(ID, { ...LIMIT, per_second: 20 })
  expect(admission).toBeInstanceOf(Promise)
  await admission
})

test.each([
  ['fails', () => Promise.reject(new Error('away'))],
  ['hangs', () => new Promise<never>(() => {})],
])('if the shared bucket %s, each process allows its share', async (_, take) => {
  let now = 0
  const limiter = new RateLimiter(take, 2, () => now)
  const share = (length: number) => count(Array.from({ length }, () => limiter.admit(ID, LIMIT)))
  // Half of a burst of 5, and half of 10 per second.
  expect((await share(8)).admitted).toBe(2)
  now = 1_000
  expect((await share(8)).admitted).toBe(2)
  now = 1_200
  expect((await share(8)).admitted).toBe(1)
})

test('requests above the maximum of waiting ones are refused at once', async () => {
  const limiter = new RateLimiter(
    () => Promise.reject(new Error('away')),
    1,
    () => 0,
  )
  const admissions = Array.from({ length: 1_001 }, () => limiter.admit(ID, LIMIT))
  expect(admissions.at(-1)).toMatchObject({ ok: false, code: 'rate_limited' })
  await Promise.all(admissions)
})
