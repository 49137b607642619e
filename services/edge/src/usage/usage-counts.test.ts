import type { TakenUsage } from '@gateway/native-edge/hot-tiles/response-counts.js'
import { expect, test } from 'vitest'
import { versionUsage } from '../sync/catalog.js'
import { UsageCounts, usageRows } from './usage-counts.js'

const NATIVE = {
  names: 'token:a version:alps/v1\0',
  amounts: new Float64Array([3, 2, 1, 0, 500]),
}
const HOUR_MS = 3_600_000

const rowsOf = (counts: UsageCounts, native: TakenUsage | null, nowMs: number) => {
  const batch = counts.take(native, nowMs)
  return new Set(batch === null ? [] : usageRows(batch))
}
const row = (kind: string, id: string, [requests, tiles, tile_404, refused, bytes]: readonly number[], more = {}) => ({
  ...{ kind, id, at: 5 * HOUR_MS },
  ...{ requests, tiles, tile_404, refused, bytes },
  ...more,
})

test('native responses and those of JavaScript add up, by token, by map and by both together', () => {
  const counts = new UsageCounts({ note: () => {} })
  counts.count('a', versionUsage('alps', 'v1'), 'tile', 100, '')
  counts.count('b', versionUsage('alps', 'v 2'), 'tile_404', 0, '')
  counts.count('', 'vector:roads', 'other', 7, '')
  counts.count('b', 'basemap:alps', 'origin', 0, '')
  counts.count('b', null, 'other', 0, '')
  const refusals = { refusals: { origin: { requests: 1, lastMs: expect.any(Number) } } }
  expect(rowsOf(counts, NATIVE, 5 * HOUR_MS + 1)).toEqual(
    new Set([
      row('token', 'a', [4, 3, 1, 0, 600]),
      row('token', 'b', [3, 0, 1, 1, 0], refusals),
      row('version', 'alps/v1', [4, 3, 1, 0, 600]),
      row('version', 'alps/v 2', [1, 0, 1, 0, 0]),
      row('vector', 'roads', [1, 0, 0, 0, 7]),
      row('basemap', 'alps', [6, 3, 2, 1, 600], refusals),
      row('token,basemap', 'a/alps', [4, 3, 1, 0, 600]),
      row('token,basemap', 'b/alps', [2, 0, 1, 1, 0], refusals),
      row('token,vector', 'signed/roads', [1, 0, 0, 0, 7]),
    ]),
  )
})

test('beyond the limit of pairs the sums of tokens and maps are correct, and the rest counts for other tokens', () => {
  const counts = new UsageCounts({ note: () => {} }, 1)
  for (const token of ['a', 'b', 'a', 'b']) counts.count(token, versionUsage('alps', 'v1'), 'tile', 1, '')
  const native = { names: 'token:c\0version:alps/v1\0', amounts: new Float64Array([3, 3, 0, 0, 5, 3, 3, 0, 0, 5]) }
  expect(rowsOf(counts, native, 5 * HOUR_MS)).toEqual(
    new Set([
      row('token', 'a', [2, 2, 0, 0, 2]),
      row('token', 'b', [2, 2, 0, 0, 2]),
      row('token', 'c', [3, 3, 0, 0, 5]),
      row('version', 'alps/v1', [7, 7, 0, 0, 9]),
      row('basemap', 'alps', [7, 7, 0, 0, 9]),
      row('token,basemap', 'a/alps', [2, 2, 0, 0, 2]),
      row('token,basemap', 'other/alps', [5, 5, 0, 0, 7]),
    ]),
  )
})

test('native refusals mean a missing grant; other reasons keep their own time', () => {
  const counts = new UsageCounts({ note: () => {} })
  const [began, now] = [Date.now(), 5 * HOUR_MS + 9]
  for (const reason of ['rate', 'rate', 'grant'] as const) counts.count('a', 'basemap:alps', reason, 0, '')
  const native = { names: 'token:a basemap:alps\0', amounts: new Float64Array([4, 0, 0, 4, 0]) }
  const refusals = [...rowsOf(counts, native, now)].map((one) => one.refusals)
  const at = expect.toSatisfy((ms: number) => ms >= began)
  const expected = { rate: { requests: 2, lastMs: at }, grant: { requests: 5, lastMs: at } }
  expect(refusals).toEqual([expected, expected, expected])
})

test('taken counts are not returned again, and an empty batch is null', () => {
  const counts = new UsageCounts({ note: () => {} })
  counts.count('a', null, 'tile', 1, '')
  expect(counts.take(null, 0)?.names).toBe('token:a\0')
  expect([counts.take(null, 0), counts.take({ names: '', amounts: new Float64Array() }, 0)]).toEqual([null, null])
})
