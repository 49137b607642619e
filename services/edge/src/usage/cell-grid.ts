import type { Bounds, KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import {
  TILE_MATRIX_SETS,
  type TileMatrixLimits,
  type TileMatrixSet,
  tileMatrixLimits,
} from '@gateway/tilesets/tile-matrix-sets.js'

/** Limit: columns, and rows, of the smallest cells of a version. Including those above them it has at most some 11,000 cells, for any requests. */
const MAX_CELLS = 64
/** Limit: cells of some ten metres. */
export const MAX_CELL_ZOOM = 22

/** The parts of the map for which requests for a version's tiles are summed up. */
export interface CellGrid {
  readonly set: TileMatrixSet
  /** The smallest cells: in the area of the version, and around it by half its size. */
  readonly inner: TileMatrixLimits
  /** Zoom of the smallest cells elsewhere. */
  readonly outerZoom: number
}

export interface Cell {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** `bounds` in degrees; null for the whole world. */
export function cellGridOf({
  tileMatrixSet,
  bounds,
}: {
  tileMatrixSet: KnownTileMatrixSetId
  bounds: Bounds | null
}): CellGrid {
  const set = TILE_MATRIX_SETS[tileMatrixSet]
  return {
    set,
    inner: finest(set, bounds === null ? null : withSurroundings(bounds)),
    outerZoom: finest(set, null).zoom,
  }
}

/** Returns the tile, or the cell above it. */
export function cellOf({ inner, outerZoom }: CellGrid, tile: Cell): Cell {
  const near = above(tile, inner.zoom)
  const scale = 2 ** (inner.zoom - near.z)
  const isInner =
    near.x >= Math.floor(inner.minColumn / scale) &&
    near.x <= Math.floor(inner.maxColumn / scale) &&
    near.y >= Math.floor(inner.minRow / scale) &&
    near.y <= Math.floor(inner.maxRow / scale)
  return isInner ? near : above(near, outerZoom)
}

function above(tile: Cell, zoom: number): Cell {
  if (tile.z <= zoom) return tile
  const scale = 2 ** (tile.z - zoom)
  return { z: zoom, x: Math.floor(tile.x / scale), y: Math.floor(tile.y / scale) }
}

/** Returns the deepest zoom at which an area does not exceed the limit of cells. */
function finest(set: TileMatrixSet, bounds: Bounds | null): TileMatrixLimits {
  let found = tileMatrixLimits(set, 0, bounds)
  for (let zoom = 1; zoom <= MAX_CELL_ZOOM; zoom++) {
    const limits = tileMatrixLimits(set, zoom, bounds)
    const { minColumn, maxColumn, minRow, maxRow } = limits
    if (maxColumn - minColumn >= MAX_CELLS || maxRow - minRow >= MAX_CELLS) break
    found = limits
  }
  return found
}

function withSurroundings([west, south, east, north]: Bounds): Bounds {
  // Across the antimeridian every column is included anyway.
  const dx = west > east ? 0 : (east - west) / 2
  const dy = (north - south) / 2
  return [Math.max(-180, west - dx), Math.max(-90, south - dy), Math.min(180, east + dx), Math.min(90, north + dy)]
}
