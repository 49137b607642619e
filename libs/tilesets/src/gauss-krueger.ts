import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import {
  type Bounds,
  GAUSS_KRUEGER_CODES,
  type OwnTileMatrixSetId,
  type TileMatrices,
} from '@gateway/contracts/basemap.js'
import { MAX_TILE_INDEX, MAX_ZOOM } from './address.js'
import { BrokenArchiveError } from './broken-archive.js'

const require = createRequire(import.meta.url)

/** Limit: degrees east and west of the central meridian that sets are served in. A zone ends at 1.5; provinces are mapped in one zone. */
const MAX_DEGREES = 6
/** Limit: the northernmost latitude, which no part of China reaches. */
const MAX_LATITUDE = 60
/** Limit: pixels of a tile's side. */
const MAX_TILE_SIZE = 4096
/** Points on each side of a rectangle that is projected: sides become curves. */
const SIDE_POINTS = 16

const { first, firstMeridian, last } = GAUSS_KRUEGER_CODES

/** True for an EPSG code of CGCS2000 / 3-degree Gauss-Kruger. */
export function isGaussKrueger(code: number): boolean {
  return Number.isInteger(code) && code >= first && code <= last
}

/** A zone: bounds in degrees to metres and back, easting first, each the smallest rectangle that holds the other. */
export interface Zone {
  /** degrees */
  readonly world: Bounds
  /** one place, in degrees */
  point(longitude: number, latitude: number): readonly number[]
  toMetres(bounds: Bounds): Bounds
  toDegrees(bounds: Bounds): Bounds
}

/** Returns the zone of a code for which `isGaussKrueger` is true. CGCS2000 is within a decimetre of WGS 84 and is treated as WGS 84. */
export function zoneOf(code: number): Zone {
  const { meridian, falseEasting } = originOf(code)
  // Loaded for the first set in a zone: most gateways have none, and it would delay every start.
  const proj4 = require('proj4') as typeof import('proj4')
  const system = proj4(`+proj=tmerc +lat_0=0 +lon_0=${meridian} +k=1 +x_0=${falseEasting} +y_0=0 +ellps=GRS80 +units=m`)
  return {
    world: [meridian - MAX_DEGREES, 0, Math.min(180, meridian + MAX_DEGREES), MAX_LATITUDE],
    point: (longitude, latitude) => system.forward([longitude, latitude]),
    toMetres: (bounds) => around(bounds, (point) => system.forward(point)),
    toDegrees: (bounds) => around(bounds, (point) => system.inverse(point)),
  }
}

function originOf(code: number): { readonly meridian: number; readonly falseEasting: number } {
  const hasNumber = code < firstMeridian
  const zone = 25 + code - (hasNumber ? first : firstMeridian)
  return { meridian: zone * 3, falseEasting: 500_000 + (hasNumber ? zone * 1_000_000 : 0) }
}

function around([west, south, east, north]: Bounds, convert: (point: [number, number]) => number[]): Bounds {
  const found: [number, number, number, number] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (let i = 0; i <= SIDE_POINTS; i++) {
    const [x, y] = [west + ((east - west) * i) / SIDE_POINTS, south + ((north - south) * i) / SIDE_POINTS]
    for (const point of [
      [x, south],
      [x, north],
      [west, y],
      [east, y],
    ] as [number, number][]) {
      const [u = 0, v = 0] = convert(point)
      found[0] = Math.min(found[0], u)
      found[1] = Math.min(found[1], v)
      found[2] = Math.max(found[2], u)
      found[3] = Math.max(found[3], v)
    }
  }
  return found
}

/** A set's description of its grid, before it is checked. */
export interface SaidMatrices {
  readonly code: number
  readonly left: number
  readonly top: number
  readonly columns: number
  readonly rows: number
  readonly resolutions: readonly number[]
}

/** The grid of a set in a zone. Throws `BrokenArchiveError` for numbers that make no grid. */
export function ownMatrices({ code, left, top, columns, rows, resolutions }: SaidMatrices): TileMatrices {
  const refuse = (why: string): never => {
    throw new BrokenArchiveError(`its tiles are in EPSG:${code}, and ${why}`)
  }
  if (!(Number.isFinite(left) && Number.isFinite(top))) refuse('its description does not name the origin of its grid')
  if (!(Number.isInteger(columns) && columns > 0 && columns <= MAX_TILE_SIZE && columns === rows))
    refuse(`its tiles are ${columns} by ${rows} pixels; squares of 1 to ${MAX_TILE_SIZE} are served`)
  if (resolutions.length === 0 || resolutions.length > MAX_ZOOM + 1)
    refuse(`its grid has ${resolutions.length} resolutions; 1 to ${MAX_ZOOM + 1} are served`)
  const isDescending = resolutions.every((value, i) => value > 0 && value < (resolutions[i - 1] ?? Infinity))
  if (!isDescending) refuse('its resolutions are not a descending list of metres for each pixel')
  const made: TileMatrices = { crs: `EPSG:${code}`, origin: [left, top], tileSize: columns, resolutions }
  const [width, height] = matrixSize(made, resolutions.length - 1)
  if (!(width > 0 && height > 0)) refuse(`its origin ${left}, ${top} lies outside of that system`)
  if (Math.max(width, height) > MAX_TILE_INDEX)
    refuse(`its resolution ${resolutions.at(-1)} makes more than ${MAX_TILE_INDEX} tiles side by side`)
  return made
}

/** Columns and rows of a zoom: from the origin to the end of the zone in the east and the equator in the south. */
export function matrixSize(matrices: TileMatrices, zoom: number): readonly [columns: number, rows: number] {
  const [west, south, east, north] = extentOfZone(matrices)
  const tile = tileMetres(matrices, zoom)
  return [Math.ceil((east - west) / tile), Math.ceil((north - south) / tile)]
}

export function tileMetres({ resolutions, tileSize }: TileMatrices, zoom: number): number {
  return (resolutions[zoom] ?? Number.NaN) * tileSize
}

/** Half the served width of a zone in metres: slightly more than `MAX_DEGREES` at the equator. */
const HALF_WIDTH = 700_000

/** West, south, east, north of the grid, metres. */
export function extentOfZone({ crs, origin: [left, top] }: TileMatrices): Bounds {
  const { falseEasting } = originOf(codeOf(crs))
  return [left, 0, falseEasting + HALF_WIDTH, top]
}

/** The identifier of a grid: the same numbers have the same one. */
export function ownSetId({ crs, origin, tileSize, resolutions }: TileMatrices): OwnTileMatrixSetId {
  const numbers = JSON.stringify([origin, tileSize, resolutions])
  const hash = createHash('sha256').update(numbers).digest('hex').slice(0, 8)
  return `EPSG${codeOf(crs)}_${hash}`
}

export function codeOf(crs: `EPSG:${number}`): number {
  return Number(crs.slice('EPSG:'.length))
}
