import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunksOf } from './chunks.js'
import type { Placement } from './footprint.js'
import { HALF_WORLD, MAX_LATITUDE, mercatorX, mercatorY } from './mercator.js'
import { childTiles, countTiles, estimateTempBytes, type Grid, gridOf, rectsWithin, rootTiles } from './plan.js'
import { TILE_SPACES } from './space.js'

const placed = (west: number, south: number, east: number, north: number): Placement => ({
  shift: 0,
  box: { west: mercatorX(west), south: mercatorY(south), east: mercatorX(east), north: mercatorY(north) },
})
const WORLD = placed(-180, -MAX_LATITUDE, 180, MAX_LATITUDE)
const range = (zoomMin: number, zoomMax: number, tileSize = 256) => ({
  space: TILE_SPACES.WebMercatorQuad,
  zoomMin,
  zoomMax,
  tileSize,
})

const box = fc
  .tuple(
    fc.double({ min: -180, max: 179, noNaN: true }),
    fc.double({ min: -85, max: 84, noNaN: true }),
    fc.double({ min: 1e-4, max: 40, noNaN: true }),
    fc.double({ min: 1e-4, max: 40, noNaN: true }),
  )
  .map(([west, south, width, height]) => placed(west, south, Math.min(180, west + width), Math.min(85, south + height)))
const grids = fc
  .tuple(fc.array(box, { minLength: 1, maxLength: 4 }), fc.nat(7), fc.nat(7), fc.constantFrom(256, 512))
  .map(([boxes, a, b, tileSize]) => gridOf(boxes, 1e6, range(Math.min(a, b), Math.max(a, b), tileSize)))

/** Tiles that a walk through the pyramid meets, by zoom. */
function walk(grid: Grid): Map<number, Set<string>> {
  const met = new Map<number, Set<string>>()
  const visit = (zoom: number, x: number, y: number, rects: Grid['rects']) => {
    const within = rectsWithin(grid, rects, zoom, x, y)
    if (within.length === 0) return
    met.set(zoom, (met.get(zoom) ?? new Set()).add(`${x}/${y}`))
    if (zoom < grid.warpZoom) for (const [cx, cy] of childTiles(x, y)) visit(zoom + 1, cx, cy, within)
  }
  for (const [x, y] of rootTiles(grid.space)) visit(0, x, y, grid.rects)
  return met
}

describe('the grid', () => {
  it('of the world contains all tiles of every zoom', () => {
    const grid = gridOf([WORLD], 2 * HALF_WORLD, range(0, 5))
    expect(grid.rects).toEqual([{ x0: 0, x1: 31, y0: 0, y1: 31, placement: 0 }])
    expect(countTiles(grid)).toBe(1365)
  })

  it('does not include a neighbour tile that a source only touches', () => {
    const grid = gridOf([placed(0, 0, 90, mercatorEdge(1))], 1e7, range(2, 2))
    expect(grid.rects).toEqual([{ x0: 2, x1: 2, y0: 1, y1: 1, placement: 0 }])
  })

  it('goes deeper only if a source would be less than a few pixels wide', () => {
    const city = placed(13, 52, 13.01, 52.01)
    expect(gridOf([city], 1113, range(0, 0)).warpZoom).toBeGreaterThan(10)
    expect(gridOf([city], 1113, range(0, 14)).warpZoom).toBe(14)
    // Many tiny sources all over the world are not worth a world of blocks.
    expect(gridOf([WORLD, city], 1113, range(0, 0)).warpZoom).toBeLessThan(7)
  })

  it('never plans fewer tiles than a walk through it visits', () => {
    fc.assert(
      fc.property(grids, (grid) => {
        let met = 0
        for (const [zoom, tiles] of walk(grid)) if (zoom >= grid.zoomMin && zoom <= grid.zoomMax) met += tiles.size
        expect(countTiles(grid)).toBeGreaterThanOrEqual(met)
      }),
    )
  })
})

describe('chunks', () => {
  it('come in the order of the walk and contain every visited block, within the planned scratch space', () => {
    fc.assert(
      fc.property(grids, (grid) => {
        const blocks = new Set<string>()
        let largest = 0
        for (const { x, y, rect, placements } of chunksOf(grid)) {
          expect(placements.length).toBeGreaterThan(0)
          const scale = 2 ** (grid.warpZoom - grid.chunkZoom)
          expect([Math.floor(rect.x0 / scale), Math.floor(rect.y1 / scale)]).toEqual([x, y])
          for (let bx = rect.x0; bx <= rect.x1; bx++)
            for (let by = rect.y0; by <= rect.y1; by++) blocks.add(`${bx}/${by}`)
          largest = Math.max(largest, (rect.x1 - rect.x0 + 1) * (rect.y1 - rect.y0 + 1) * grid.tileSize ** 2 * 4)
        }
        for (const block of walk(grid).get(grid.warpZoom)!) expect(blocks).toContain(block)
        expect(2 * largest).toBeLessThanOrEqual(estimateTempBytes(grid))
      }),
      { numRuns: 50 },
    )
  })
})

function mercatorEdge(rows: number): number {
  const y = (rows * HALF_WORLD) / 2
  return (Math.atan(Math.sinh(y / 6378137)) * 180) / Math.PI
}
