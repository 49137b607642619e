import type { Bounds, KnownTileMatrixSetId, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { isKnownGrid } from '../address.js'
import { TILE_MATRIX_SETS, tileMatrixLimits } from '../tile-matrix-sets.js'
import type { ZoomListing } from './listing.js'

/**
 * True if the tiles of a geographic folder are in the grid that gdal2tiles uses without `--tmscompatible`: each zoom has the tiles
 * of the zoom above it in our grid, although its tilemapresource.xml says otherwise. Decided by the columns and rows of the deepest zoom and the
 * bounds of the tiled data. Rows count from the south, where both grids begin.
 */
export function isOneTileAtZoom0(zooms: readonly ZoomListing[], grid: TileMatrixSetId, bounds: Bounds): boolean {
  const deepest = zooms.findLast(({ complete }) => complete)
  if (!isKnownGrid(grid) || TILE_MATRIX_SETS[grid].columns !== 2 || deepest === undefined || deepest.z === 0)
    return false
  return !liesAt(deepest, deepest.z, grid, bounds) && liesAt(deepest, deepest.z - 1, grid, bounds)
}

function liesAt(listed: ZoomListing, z: number, grid: KnownTileMatrixSetId, bounds: Bounds): boolean {
  const { minColumn, maxColumn, minRow, maxRow } = tileMatrixLimits(TILE_MATRIX_SETS[grid], z, bounds)
  const last = 2 ** z - 1
  // If bounds begin at a tile's edge, gdal2tiles also makes the previous tile.
  const begins = (at: number, expected: number) => at === expected || at === expected - 1
  return (
    begins(listed.minColumn, minColumn) &&
    listed.maxColumn === maxColumn &&
    begins(listed.minRow, last - maxRow) &&
    listed.maxRow === last - minRow
  )
}
