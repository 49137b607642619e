import { expect, test } from 'vitest'
import { sumOf, withQuietTimes } from './usage.js'

const HOUR = 3_600_000
const item = (hour: number, requests: number) => ({
  id: 'world',
  name: null,
  at: new Date(hour * HOUR).toISOString(),
  requests,
  tiles: requests,
  tile_404: 0,
  refused: 0,
  bytes: 10 * requests,
  refused_by: {},
})

test('hours without requests are points at zero, including the current hour', () => {
  const points = withQuietTimes([item(3, 5), item(5, 7)], 2 * HOUR, 5.5 * HOUR, HOUR)
  expect(points.map(({ at, requests }) => [at.slice(11, 13), requests])).toEqual([
    ['02', 0],
    ['03', 5],
    ['04', 0],
    ['05', 7],
  ])
  expect(sumOf(points)).toEqual({ requests: 12, tiles: 12, tile_404: 0, refused: 0, bytes: 120 })
})
