import type { Bounds } from '@gateway/contracts/basemap.js'
import { flipRow } from '../address.js'
import { matrixSetOf, type OwnMatrices, type TileMatrixSet } from '../tile-matrix-sets.js'

/** The columns and rows of a zoom that have tiles, as far as it was listed. Rows are as stored. */
export interface ZoomExtent {
  readonly z: number
  /** true if the whole zoom was listed */
  readonly complete: boolean
  readonly minColumn: number
  readonly maxColumn: number
  readonly minRow: number
  readonly maxRow: number
}

/** A rectangle in fractions of the grid: x from the west, y from the north. */
interface Box {
  readonly west: number
  readonly north: number
  readonly east: number
  readonly south: number
}

/**
 * Returns bounds that contain every tile, as far as listing tells. The deepest completely listed zoom gives the tightest bounds. A zoom that
 * extends beyond it (such as a world overview above a city) widens them. Bounds that are too small would hide tiles from map clients.
 */
export function extentOf(
  zooms: readonly ZoomExtent[],
  scheme: 'xyz' | 'tms',
  grid: Parameters<typeof matrixSetOf>[0],
): Bounds | null {
  const set = matrixSetOf(grid)
  if (set.own !== null) return ownExtent(zooms, set, set.own)
  const columns = set.columns ?? 1
  const latitude = columns === 1 ? latitudeOfMercator : latitudeOfGeographic
  const base = zooms.findLast((zoom) => zoom.complete) ?? zooms[0]
  if (base === undefined) return null
  let box = boxOf(base, scheme, columns)
  for (const zoom of [...zooms].reverse()) {
    const own = boxOf(zoom, scheme, columns)
    const covered = snap(box, zoom.z, columns)
    const within =
      own.west >= covered.west && own.north >= covered.north && own.east <= covered.east && own.south <= covered.south
    if (!within) box = union(box, own)
  }
  return [longitude(box.west), latitude(box.south), longitude(box.east), latitude(box.north)]
}

/** For a grid whose zooms do not nest: bounds around the tiles of the deepest zoom, and of other zooms that extend further. */
function ownExtent(zooms: readonly ZoomExtent[], { extent }: TileMatrixSet, { zone, matrices, numbers }: OwnMatrices) {
  const [left, , , top] = extent
  let found: Bounds | null = null
  for (const { z, minColumn, maxColumn, minRow, maxRow } of [...zooms].reverse()) {
    const tile = (matrices[z]?.cellSize ?? Number.NaN) * numbers.tileSize
    const box = [left + minColumn * tile, top - (maxRow + 1) * tile, left + (maxColumn + 1) * tile, top - minRow * tile]
    const [west, south, east, north] = box as unknown as Bounds
    // A tile of a higher zoom that contains the rest adds no information.
    const isAround: boolean =
      found !== null &&
      found[0] - west < tile &&
      found[1] - south < tile &&
      east - found[2] < tile &&
      north - found[3] < tile
    if (isAround || Number.isNaN(tile)) continue
    const [w, s, e, n]: Bounds = found ?? [west, south, east, north]
    found = [Math.min(w, west), Math.min(s, south), Math.max(e, east), Math.max(n, north)]
  }
  return found === null ? null : zone.toDegrees(found)
}

/** `columns`: of the grid at zoom 0. */
function boxOf(zoom: ZoomExtent, scheme: 'xyz' | 'tms', columns: number): Box {
  const size = 2 ** zoom.z
  const top = scheme === 'tms' ? flipRow(zoom.z, zoom.maxRow) : zoom.minRow
  const bottom = scheme === 'tms' ? flipRow(zoom.z, zoom.minRow) : zoom.maxRow
  return {
    west: zoom.minColumn / size / columns,
    north: top / size,
    // Columns beyond the grid are not served.
    east: Math.min((zoom.maxColumn + 1) / size / columns, 1),
    south: (bottom + 1) / size,
  }
}

/** Expands a box to whole tiles of a zoom. */
function snap(box: Box, z: number, columns: number): Box {
  const size = 2 ** z
  const width = size * columns
  return {
    west: Math.floor(box.west * width) / width,
    north: Math.floor(box.north * size) / size,
    east: Math.ceil(box.east * width) / width,
    south: Math.ceil(box.south * size) / size,
  }
}

function union(a: Box, b: Box): Box {
  return {
    west: Math.min(a.west, b.west),
    north: Math.min(a.north, b.north),
    east: Math.max(a.east, b.east),
    south: Math.max(a.south, b.south),
  }
}

function longitude(x: number): number {
  return x * 360 - 180
}

function latitudeOfGeographic(y: number): number {
  return 90 - y * 180
}

function latitudeOfMercator(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
}
