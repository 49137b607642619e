import type { Bounds } from '@gateway/contracts/basemap.js'
import type { TilePlace } from '@gateway/tilesets/source.js'
import { matrixSetOf, type TileMatrixLimits, touchedLimits } from '@gateway/tilesets/tile-matrix-sets.js'

/** An area of the grid of a version. */
export interface SeededArea {
  readonly grid: Parameters<typeof matrixSetOf>[0]
  readonly bounds: Bounds
  readonly minZoom: number
  readonly maxZoom: number
}

/** Returns the number of tiles in an area. */
export function countPlaces(area: SeededArea): number {
  return blocksOf(area).reduce((sum, block) => sum + sizeOf(block), 0)
}

/** Yields the tiles of an area from the one with this number on. Their order never changes, so that another process can continue. */
export function* placesFrom(area: SeededArea, first: number): Generator<TilePlace> {
  let at = first
  for (const block of blocksOf(area)) {
    const columns = block.maxColumn - block.minColumn + 1
    const size = sizeOf(block)
    for (; at < size; at++)
      yield { z: block.zoom, x: block.minColumn + (at % columns), y: block.minRow + Math.floor(at / columns) }
    at -= size
  }
}

function blocksOf({ grid, bounds, minZoom, maxZoom }: SeededArea): TileMatrixLimits[] {
  const set = matrixSetOf(grid)
  return Array.from({ length: maxZoom - minZoom + 1 }, (_, i) => touchedLimits(set, minZoom + i, bounds)).flat()
}

function sizeOf({ minRow, maxRow, minColumn, maxColumn }: TileMatrixLimits): number {
  return (maxRow - minRow + 1) * (maxColumn - minColumn + 1)
}
