import { expect, test } from 'vitest'
import type { Catalog } from '../sync/catalog.js'
import { versionUsage } from '../sync/catalog.js'
import { TileCounts } from './tile-counts.js'
import { usageRows } from './usage-counts.js'

const NOON = Date.UTC(2026, 2, 1, 12)
const stored = { tileMatrixSet: 'WebMercatorQuad', bounds: null }
const catalog = { basemaps: new Map([['alps', { versions: new Map([['v1', { stored }]]) }]]) } as unknown as Catalog
const ALPS = versionUsage('alps', 'v1')

/** Park and Miller's generator, from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

test('responses add up by cell and day, exactly as long as there are few, natively or not', () => {
  const counts = new TileCounts({ exact: 10, every: 64 })
  counts.note(ALPS, '/tiles/alps/v1/7/66/44.png', false)
  counts.note(ALPS, '/tiles/alps/7/67/45@2x.png', true)
  counts.note(ALPS, '/tiles/alps/v1/1/0/1.png', true)
  counts.note(versionUsage('gone', 'v1'), '/tiles/gone/v1/1/0/1.png', false)
  counts.note('basemap:alps', '/tiles/alps/v9/1/0/1.png', true)
  // Only geographic grids have this column.
  counts.note(ALPS, '/tiles/alps/v1/1/2/1.png', true)
  const natively = { name: ALPS, z: 6, x: 33, y: 22, weight: 64, missing: false }
  const cell = { kind: 'cell', at: Date.UTC(2026, 2, 1), refused: 0, bytes: 0 }
  const batch = counts.take([natively], catalog, NOON)
  expect(batch && usageRows(batch)).toEqual([
    { ...cell, id: 'alps/v1/6/33/22', requests: 66, tiles: 65, tile_404: 1 },
    { ...cell, id: 'alps/v1/1/0/1', requests: 1, tiles: 0, tile_404: 1 },
  ])
  expect(counts.take([], catalog, NOON)).toBeNull()
})

test('many responses are sampled so that the sums are about right, in any order', () => {
  const counts = new TileCounts({ exact: 100, every: 64, random: randomFrom(7) })
  const sums = new Map<string, number>()
  // In cycles of 64, in which every 64th would always be the same tile.
  for (let i = 0; i < 640_000; i++) counts.note(ALPS, `/tiles/alps/v1/3/${i % 8}/0.png`, false)
  const batch = counts.take([], catalog, NOON)
  for (const { id, requests } of batch === null ? [] : usageRows(batch)) sums.set(id, requests)
  expect(sums.size).toBe(8)
  // The standard deviation of each is 2,246.
  for (const requests of sums.values()) expect(Math.abs(requests - 80_000)).toBeLessThan(4 * 2_246)
})
