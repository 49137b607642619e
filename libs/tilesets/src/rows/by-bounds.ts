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

/**
 * Returns the order of rows if bounds contain the tiles only with columns and rows swapped, as in folders of `{z}/{y}/{x}`. null: undecided. To be asked if
 * the bounds contain no tile otherwise.
 */
export function transposedByBounds(
  zooms: readonly ZoomExtent[],
  bounds: Bounds,
  grid: KnownTileMatrixSetId,
): RowOrder | null {
  const deepest = zooms.findLast(({ complete }) => complete)
  if (deepest === undefined) return null
  const { z, minColumn, maxColumn, minRow, maxRow } = deepest
  const limits = tileMatrixLimits(TILE_MATRIX_SETS[grid], z, bounds)
  const isWithin = (low: number, high: number, from: number, to: number) => low >= from - 1 && high <= to + 1
  if (!isWithin(minRow, maxRow, limits.minColumn, limits.maxColumn)) return null
  if (isWithin(minColumn, maxColumn, limits.minRow, limits.maxRow)) return 'xyz'
  return isWithin(flipRow(z, maxColumn), flipRow(z, minColumn), limits.minRow, limits.maxRow) ? 'tms' : null
}

/**
 * Returns a warning if bounds contain none of the listed tiles, whichever way rows are counted; null: they contain some, or that is not known. They are
 * then useless.
 */
export function boundsWithoutTiles(
  zooms: readonly ZoomExtent[],
  bounds: Bounds | null,
  grid: KnownTileMatrixSetId,
): string | null {
  const deepest = zooms.findLast(({ complete }) => complete)
  if (deepest === undefined || bounds === null) return null
  const { z, minColumn, maxColumn, minRow, maxRow } = deepest
  const limits = tileMatrixLimits(TILE_MATRIX_SETS[grid], z, bounds)
  const isApart = (low: number, high: number, from: number, to: number) => low > to + 1 || high < from - 1
  const areRowsApart = [
    [minRow, maxRow],
    [flipRow(z, maxRow), flipRow(z, minRow)],
  ].every(([low, high]) => isApart(low as number, high as number, limits.minRow, limits.maxRow))
  if (!areRowsApart && !isApart(minColumn, maxColumn, limits.minColumn, limits.maxColumn)) return null
  const inBounds = `columns ${limits.minColumn}-${limits.maxColumn} and rows ${limits.minRow}-${limits.maxRow}`
  const stored = `columns ${minColumn}-${maxColumn} and rows ${minRow}-${maxRow}`
  return `the bounds ${bounds.join(', ')} contain no tile: at zoom ${z} they are ${inBounds}, but the tiles have ${stored}; the bounds of the tiles are used`
}
