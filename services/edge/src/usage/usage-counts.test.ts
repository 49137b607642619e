import { expect, test } from 'vitest'
import { UsageCounts, usageRows, versionUsage } from './usage-counts.js'

const NATIVE = {
  names: 'token:a\0version:alps/v1\0',
  amounts: new Float64Array([3, 2, 1, 0, 500, 3, 2, 1, 0, 500]),
}
const HOUR_MS = 3_600_000

test('what was answered natively and by JavaScript adds up, versions also for their basemap', () => {
  const counts = new UsageCounts({ note: () => {} })
  counts.count('a', versionUsage('alps', 'v1'), 'tile', 100, '')
  counts.count('b', versionUsage('alps', 'v2'), 'tile_404', 0, '')
  counts.count('', 'vector:roads', 'other', 7, '')
  counts.count('b', 'basemap:alps', 'refused', 0, '')
  const batch = counts.take(NATIVE, 5 * HOUR_MS + 1)
  const rows = batch === null ? [] : usageRows(batch)
  const row = (kind: string, id: string, [requests, tiles, tile_404, refused, bytes]: readonly number[]) => ({
    ...{ kind, id, at: 5 * HOUR_MS },
    ...{ requests, tiles, tile_404, refused, bytes },
  })
  expect(new Set(rows)).toEqual(
    new Set([
      row('token', 'a', [4, 3, 1, 0, 600]),
      row('token', 'b', [2, 0, 1, 1, 0]),
      row('version', 'alps/v1', [4, 3, 1, 0, 600]),
      row('version', 'alps/v2', [1, 0, 1, 0, 0]),
      row('vector', 'roads', [1, 0, 0, 0, 7]),
      row('basemap', 'alps', [6, 3, 2, 1, 600]),
    ]),
  )
})

test('what was taken is not told again, and nothing is nothing', () => {
  const counts = new UsageCounts({ note: () => {} })
  counts.count('a', null, 'tile', 1, '')
  expect(counts.take(null, 0)?.names).toBe('token:a\0')
  expect([counts.take(null, 0), counts.take({ names: '', amounts: new Float64Array() }, 0)]).toEqual([null, null])
})
