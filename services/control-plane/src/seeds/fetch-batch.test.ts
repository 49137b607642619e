import { expect, test } from 'vitest'
import { BatchFetcher, type Fetched, MAX_FAILED_IN_ROW } from './fetch-batch.js'

const places = (count: number) => Array.from({ length: count }, (_, x) => ({ z: 9, x, y: 0 }))
const KEPT: Fetched = { kind: 'kept' }
const FAILED: Fetched = { kind: 'failed', words: 'it returns 500' }
const REFUSED: Fetched = { kind: 'refused', words: 'it returns 500', afterSeconds: 7 }

test('the outage of a service costs a pause and no tile', async () => {
  const kept: number[] = []
  const pauses: [number, string][] = []
  let asked = 0
  const fetcher = new BatchFetcher({
    lanes: 3,
    async fetch({ x }) {
      asked++
      // Five failures, then the service is not asked until two pauses have passed.
      if (pauses.length < 2) return asked <= 5 ? FAILED : REFUSED
      kept.push(x)
      return KEPT
    },
    pause: async (seconds, words) => void pauses.push([seconds, words]),
  })
  expect(await fetcher.run(places(40))).toEqual({ kept: 40, failed: [], down: null })
  expect(kept.toSorted((a, b) => a - b)).toEqual(places(40).map(({ x }) => x))
  expect(pauses).toEqual([
    [7, 'it returns 500'],
    [7, 'it returns 500'],
  ])
})

test('a tile that always fails is given up and named, and others are fetched', async () => {
  const asked: number[] = []
  const fetcher = new BatchFetcher({
    lanes: 2,
    async fetch({ x }) {
      asked.push(x)
      return x === 4 ? FAILED : KEPT
    },
    pause: async () => {},
  })
  const failed = [{ place: { z: 9, x: 4, y: 0 }, words: 'it returns 500' }]
  expect(await fetcher.run(places(10))).toEqual({ kept: 9, failed, down: null })
  expect(asked.filter((x) => x === 4)).toHaveLength(3)
  expect(new Set(asked).size).toBe(10)
})

test('a service that answers nothing ends the work, over several batches', async () => {
  let asked = 0
  const fetcher = new BatchFetcher({
    lanes: 4,
    async fetch() {
      asked++
      return FAILED
    },
    pause: async () => {},
  })
  const first = await fetcher.run(places(8))
  expect([first.failed.length, first.down]).toEqual([8, null])
  const second = await fetcher.run(places(8))
  expect([second.failed.length, second.down]).toEqual([8, null])
  const third = await fetcher.run(places(8))
  expect(third.down).toBe('it returns 500')
  expect(asked).toBeGreaterThanOrEqual(MAX_FAILED_IN_ROW)
  expect(asked).toBeLessThan(MAX_FAILED_IN_ROW + 4)
})

test('an abort ends the work when nothing is under way any more', async () => {
  let underWay = 0
  const aborted = new Error('stopped')
  const fetcher = new BatchFetcher({
    lanes: 4,
    async fetch({ x }) {
      underWay++
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      if (x >= 2) throw aborted
      return KEPT
    },
    pause: async () => {},
  })
  await expect(fetcher.run(places(40))).rejects.toBe(aborted)
  expect(underWay).toBe(0)
})
