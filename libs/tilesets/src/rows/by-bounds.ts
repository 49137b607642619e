import type { Bounds, KnownTileMatrixSetId, RowOrder } from '@gateway/contracts/basemap.js'
import { flipRow } from '../address.js'
import type { ZoomExtent } from '../folder/extent.js'
import { TILE_MATRIX_SETS, tileMatrixLimits } from '../tile-matrix-sets.js'

/** Returns the row order, if the bounds of the metadata contain the tiles in only one order. null: undecided. */
export function orderByBounds(
  zooms: readonly ZoomExtent[],
  bounds: Bounds | null,
  grid: KnownTileMatrixSetId,
): RowOrder | null {
  const deepest = zooms.findLast(({ complete }) => complete)
  if (deepest === undefined || bounds === null) return null
  const { z, minColumn, maxColumn, minRow, maxRow } = deepest
  const limits = tileMatrixLimits(TILE_MATRIX_SETS[grid], z, bounds)
  const isWithin = (low: number, high: number, from: number, to: number) => low >= from - 1 && high <= to + 1
  if (!isWithin(minColumn, maxColumn, limits.minColumn, limits.maxColumn)) return null
  const places = { xyz: [minRow, maxRow], tms: [flipRow(z, maxRow), flipRow(z, minRow)] } as const
  const fits = (order: RowOrder) => isWithin(places[order][0], places[order][1], limits.minRow, limits.maxRow)
  const misses = (order: RowOrder) => places[order][0] > limits.maxRow + 1 || places[order][1] < limits.minRow - 1
  if (fits('xyz') && misses('tms')) return 'xyz'
  return fits('tms') && misses('xyz') ? 'tms' : null
}
