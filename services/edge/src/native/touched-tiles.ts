import type { Bounds, TileFormat, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { Grid, TouchedTiles } from '@gateway/native-edge/hot-tiles/responses.js'
import { isKnownGrid } from '@gateway/tilesets/address.js'
import { isCutByFeatures } from '@gateway/tilesets/formats.js'
import { TILE_MATRIX_SETS, touchedLimits } from '@gateway/tilesets/tile-matrix-sets.js'

interface GridOfTiles {
  readonly tileMatrixSet: TileMatrixSetId
  readonly format: TileFormat
}

/**
 * Returns the grid of a set for the native tier, to which all geographic grids are the same. `other` leaves requests of tokens with an area to
 * JavaScript, which cuts vector tiles.
 */
export function gridOf({ tileMatrixSet, format }: GridOfTiles): Grid {
  if (!isKnownGrid(tileMatrixSet) || isCutByFeatures(format)) return 'other'
  return tileMatrixSet === 'WebMercatorQuad' ? 'mercator' : 'geographic'
}

/** Returns the tiles that touch a token's area, by the rules of the handler. */
export function touchedTiles(area: Bounds): TouchedTiles {
  return (grid, zoom) => {
    const set = grid === 'mercator' ? TILE_MATRIX_SETS.WebMercatorQuad : TILE_MATRIX_SETS.WorldCRS84Quad
    return touchedLimits(set, zoom, area).map(
      ({ minColumn, maxColumn, minRow, maxRow }) => [minColumn, maxColumn, minRow, maxRow] as const,
    )
  }
}
