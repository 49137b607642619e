import type { Bounds, KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from './address.js'
import { TILE_MATRIX_SETS } from './tile-matrix-sets.js'

/** A matrix of tiles in the units of its system: its north-west corner, and the size of one tile. */
export interface TileMatrix {
  readonly left: number
  readonly top: number
  readonly tileWidth: number
  readonly tileHeight: number
}

/** The zoom that a matrix equals, and the column and row of its first tile there. */
export interface MatrixFit {
  readonly z: number
  readonly column: number
  readonly row: number
}

/** Maximum offset of a tile from its place, in tiles: less than half of one of 256 pixels is invisible. */
const MAX_PIXELS_OFF = 0.5 / 256

/** Returns the grid of a system by its EPSG code, including Esri's own codes for Web Mercator; null if it is not served. */
export function gridOfCode(code: number): KnownTileMatrixSetId | null {
  if ([3857, 102100, 102113, 900913, 3785].includes(code)) return 'WebMercatorQuad'
  if (code === 4326) return 'WorldCRS84Quad'
  return code === 4490 ? 'CGCS2000Quad' : null
}

/** Returns the place of a matrix in a grid; null if its tiles are not those of any zoom. */
export function fitInGrid(
  grid: KnownTileMatrixSetId,
  { left, top, tileWidth, tileHeight }: TileMatrix,
): MatrixFit | null {
  const { extent, columns } = TILE_MATRIX_SETS[grid]
  const [west, south, , north] = extent
  const world = north - south
  const z = Math.round(Math.log2(world / tileWidth))
  if (!(z >= 0 && z <= MAX_ZOOM)) return null
  const tile = world / 2 ** z
  const [column, row] = [(left - west) / tile, (north - top) / tile]
  // Over the whole grid, since a wrong scale adds up from tile to tile.
  const drift = (size: number) => (Math.abs(size - tile) / tile) * 2 ** z * (columns ?? 1)
  const off = [
    drift(tileWidth),
    drift(tileHeight),
    Math.abs(column - Math.round(column)),
    Math.abs(row - Math.round(row)),
  ]
  if (!off.every((tiles) => tiles <= MAX_PIXELS_OFF)) return null
  // Avoids negative zero.
  return { z, column: Math.round(column) + 0, row: Math.round(row) + 0 }
}

/** Bounds in the units of a grid's system as degrees, cut at the ends of the grid; null: they hold nothing of it. */
export function degreesOf(grid: KnownTileMatrixSetId, [west, south, east, north]: Bounds): Bounds | null {
  const { extent, world, columns } = TILE_MATRIX_SETS[grid]
  const x = (value: number) => (columns === 2 ? value : (value / extent[2]) * 180)
  const y = (value: number) =>
    columns === 2 ? value : (Math.atan(Math.sinh((value / extent[3]) * Math.PI)) * 180) / Math.PI
  const cut = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
  const bounds: Bounds = [
    cut(x(west), -180, 180),
    cut(y(south), world[1], world[3]),
    cut(x(east), -180, 180),
    cut(y(north), world[1], world[3]),
  ]
  return bounds[0] < bounds[2] && bounds[1] < bounds[3] ? bounds : null
}

/** Formats the numbers of an unsupported matrix for people. */
export function describeMatrix({ left, top, tileWidth, tileHeight }: TileMatrix): string {
  const size = tileWidth === tileHeight ? `${tileWidth}` : `${tileWidth} by ${tileHeight}`
  return `origin ${left}, ${top} and tiles of ${size} units`
}
