import type { Bounds, TileMatrices, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { isGaussKrueger, ownMatrices, ownSetId } from '../gauss-krueger.js'
import { readBounds } from '../metadata/fields.js'
import { TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import type { UpstreamLevel } from './service.js'

/** One level of a service, in the units of its system, easting first. */
export interface SaidLevel {
  readonly id: string
  readonly left: number
  readonly top: number
  /** units for each pixel */
  readonly cellSize: number
  readonly tileWidth: number
  readonly tileHeight: number
}

export interface MatchedGrid {
  readonly tileMatrixSet: TileMatrixSetId
  readonly tileMatrices: TileMatrices | null
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  /** by zoom */
  readonly levels: readonly (UpstreamLevel | null)[]
}

/** Part of a zoom, and of a tile, that counts as rounding. */
const ZOOM_TOLERANCE = 1e-3
const TILE_TOLERANCE = 0.01
/** Part of the world's width to which corners are rounded: GeoServer says 20037508, and levels of any depth lie there. */
const CORNER_TOLERANCE = 1e-8

const KNOWN: Readonly<Record<number, keyof typeof TILE_MATRIX_SETS>> = {
  3857: 'WebMercatorQuad',
  900913: 'WebMercatorQuad',
  102100: 'WebMercatorQuad',
  102113: 'WebMercatorQuad',
  3785: 'WebMercatorQuad',
  4326: 'WorldCRS84Quad',
  84: 'WorldCRS84Quad',
  4490: 'CGCS2000Quad',
}

/** Returns the number of a system: of `EPSG:3857`, a URN, a URI, `CRS:84` and `OGC:CRS84`. NaN: none is found. */
export function systemOf(name: string): number {
  if (/CRS:?84$|^IGNF:WGS84G$/i.test(name)) return 84
  return Number(/(?<!\d)\d{1,9}$/.exec(name)?.[0] ?? Number.NaN)
}

/** True if the first coordinate of the system is the latitude, or the northing, by its definition. */
export function isNorthFirst(name: string): boolean {
  const system = systemOf(name)
  return system === 4326 || system === 4490 || isGaussKrueger(system)
}

export function knownGrid(system: number): keyof typeof TILE_MATRIX_SETS | null {
  return KNOWN[system] ?? null
}

/** Systems of degrees that differ from WGS 84 by less than a pixel of what bounds are for. */
const DEGREES = new Set([4326, 84, 4490, 4258, 4269, 4283, 4674, 7844])

/** Returns a box of a system, easting first, in degrees; null: the system is not known. */
export function degreesIn(system: number, sides: readonly number[]): Bounds | null {
  if (DEGREES.has(system)) return readBounds(sides, [])
  if (knownGrid(system) !== 'WebMercatorQuad') return null
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = sides
  const longitude = (x: number) => (x / 20_037_508.342_789_244) * 180
  const latitude = (y: number) => (Math.atan(Math.sinh(y / 6_378_137)) * 180) / Math.PI
  return readBounds([longitude(west), latitude(south), longitude(east), latitude(north)], [])
}

/** Returns the grid of the gateway that levels lie in; null: in none. */
export function matchGrid(system: number, said: readonly SaidLevel[]): MatchedGrid | null {
  if (isGaussKrueger(system)) return ownGrid(system, said)
  const id = knownGrid(system)
  if (id === null) return null
  const { topLeft, extent, columns } = TILE_MATRIX_SETS[id]
  const [left, top] = id === 'WebMercatorQuad' ? topLeft : [topLeft[1], topLeft[0]]
  const width = extent[2] - extent[0]
  const levels: (UpstreamLevel | null)[] = []
  let tileSize = 0
  for (const level of said) {
    const span = level.cellSize * level.tileWidth
    const exact = Math.log2(width / span / (columns ?? 1))
    const zoom = Math.round(exact)
    const column = (level.left - left) / span
    const row = (top - level.top) / span
    const rounding = Math.max(TILE_TOLERANCE, Math.min(0.25, (width * CORNER_TOLERANCE) / span))
    // A corner at the other end of the world is one whose coordinates are swapped.
    const isInside = column < width / span - rounding && row < (extent[3] - extent[1]) / span - rounding
    const isOnGrid = isNear(column, rounding) && isNear(row, rounding) && level.tileWidth === level.tileHeight
    if (!isInside) continue
    if (!isOnGrid || Math.abs(exact - zoom) > ZOOM_TOLERANCE || zoom < 0 || zoom > MAX_ZOOM) continue
    // The tiles of a set have one size.
    if (tileSize !== 0 && tileSize !== level.tileWidth) continue
    tileSize = level.tileWidth
    levels[zoom] = { id: level.id, column: Math.round(column), row: Math.round(row) }
  }
  const zooms = Object.keys(levels).map(Number)
  if (zooms.length === 0) return null
  const all = Array.from({ length: Math.max(...zooms) + 1 }, (_, zoom) => levels[zoom] ?? null)
  const range = { minZoom: Math.min(...zooms), maxZoom: Math.max(...zooms) }
  return { tileMatrixSet: id, tileMatrices: null, tileSize, ...range, levels: all }
}

function ownGrid(code: number, said: readonly SaidLevel[]): MatchedGrid | null {
  const sorted = [...said].sort((a, b) => b.cellSize - a.cellSize)
  const [one] = sorted
  if (one === undefined || sorted.some(({ left, top }) => left !== one.left || top !== one.top)) return null
  try {
    const { left, top, tileWidth: columns, tileHeight: rows } = one
    const matrices = ownMatrices({
      code,
      left,
      top,
      columns,
      rows,
      resolutions: sorted.map(({ cellSize }) => cellSize),
    })
    const levels = sorted.map(({ id }) => ({ id, column: 0, row: 0 }))
    const range = { minZoom: 0, maxZoom: levels.length - 1 }
    return { tileMatrixSet: ownSetId(matrices), tileMatrices: matrices, tileSize: columns, ...range, levels }
  } catch (error) {
    if (error instanceof BrokenArchiveError) return null
    throw error
  }
}

function isNear(tiles: number, tolerance: number): boolean {
  return Math.abs(tiles - Math.round(tiles)) < tolerance
}
