import type { Bounds } from '@gateway/contracts/basemap.js'
import { TILE_MATRIX_SETS, type TileMatrixLimits, tileMatrixLimits } from '../tile-matrix-sets.js'

/** A part of a set in Web Mercator. */
export interface Area {
  readonly minZoom: number
  readonly maxZoom: number
  /** west, south, east, north in degrees; west greater than east: across the antimeridian; null: the whole world */
  readonly bounds: Bounds | null
}

/** The tiles of one zoom that intersect the area. A tile that only shares an edge with it does not. */
export class ZoomArea {
  readonly #limits: readonly TileMatrixLimits[]

  constructor({ bounds }: Area, zoom: number) {
    this.#limits = unbroken(bounds).map((part) => tileMatrixLimits(TILE_MATRIX_SETS.WebMercatorQuad, zoom, part))
  }

  hasColumn(x: number): boolean {
    return this.#limits.some(({ minColumn, maxColumn }) => x >= minColumn && x <= maxColumn)
  }

  hasRow(y: number): boolean {
    return this.#limits.some(({ minRow, maxRow }) => y >= minRow && y <= maxRow)
  }

  has(x: number, y: number): boolean {
    return this.hasColumn(x) && this.hasRow(y)
  }
}

function unbroken(bounds: Bounds | null): (Bounds | null)[] {
  if (bounds === null) return [null]
  const [west, south, east, north] = bounds
  if (west <= east) return [bounds]
  return [
    [west, south, 180, north],
    [-180, south, east, north],
  ]
}

/** Returns the intersection of two bounds, or `wanted` if either crosses the antimeridian. null: the whole world. */
export function sharedBounds(wanted: Bounds | null, own: Bounds | null): Bounds | null {
  if (wanted === null || own === null) return wanted ?? own
  if (wanted[0] > wanted[2] || own[0] > own[2]) return wanted
  const west = Math.max(wanted[0], own[0])
  const south = Math.max(wanted[1], own[1])
  const east = Math.min(wanted[2], own[2])
  const north = Math.min(wanted[3], own[3])
  return west < east && south < north ? [west, south, east, north] : wanted
}
