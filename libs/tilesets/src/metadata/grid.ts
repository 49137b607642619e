import type { TileMatrices, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { isGaussKrueger, ownMatrices, ownSetId } from '../gauss-krueger.js'

/** Fields that may name a grid, by precedence. */
export const FIELDS = ['tile_matrix_set', 'crs', 'srs', 'profile'] as const

/** Names in capitals, without the text before the last code: `urn:ogc:def:crs:EPSG::4326` and `.../EPSG/0/4326` are `4326`. */
const GRID_OF_NAME: ReadonlyMap<string, TileMatrixSetId> = new Map([
  ['WEBMERCATORQUAD', 'WebMercatorQuad'],
  ['GOOGLEMAPSCOMPATIBLE', 'WebMercatorQuad'],
  ['3857', 'WebMercatorQuad'],
  ['900913', 'WebMercatorQuad'],
  ['102100', 'WebMercatorQuad'],
  ['102113', 'WebMercatorQuad'],
  ['3785', 'WebMercatorQuad'],
  ['MERCATOR', 'WebMercatorQuad'],
  ['GLOBAL-MERCATOR', 'WebMercatorQuad'],
  ['WORLDCRS84QUAD', 'WorldCRS84Quad'],
  ['4326', 'WorldCRS84Quad'],
  ['CRS84', 'WorldCRS84Quad'],
  ['GEODETIC', 'WorldCRS84Quad'],
  ['GLOBAL-GEODETIC', 'WorldCRS84Quad'],
  ['CGCS2000QUAD', 'CGCS2000Quad'],
  ['4490', 'CGCS2000Quad'],
])

export interface SaidGrid {
  /** null for a grid that is not served; `named` contains its name */
  readonly grid: TileMatrixSetId | null
  readonly named: string
  /** the numbers of the set's own grid */
  readonly matrices?: TileMatrices
  /** the reason why the numbers do not describe a grid */
  readonly refusal?: string
}

/**
 * Returns the grid that a set declares, or Web Mercator if it declares none. A set in a zone of Gauss-Kruger also has `origin` (easting, northing),
 * `resolutions` (metres for each pixel, by zoom) and `tile_size`.
 */
export function readGrid(fields: Readonly<Record<string, unknown>>): SaidGrid {
  for (const field of FIELDS) {
    const named = textOf(fields[field])
    if (named === '') continue
    const code = Number(keyOf(named))
    return isGaussKrueger(code) ? readOwn(named, code, fields) : { grid: GRID_OF_NAME.get(keyOf(named)) ?? null, named }
  }
  return { grid: 'WebMercatorQuad', named: '' }
}

function readOwn(named: string, code: number, fields: Readonly<Record<string, unknown>>): SaidGrid {
  try {
    const matrices = readMatrices(code, fields)
    return { grid: ownSetId(matrices), named, matrices }
  } catch (error) {
    if (error instanceof BrokenArchiveError) return { grid: null, named, refusal: error.message }
    throw error
  }
}

function readMatrices(code: number, fields: Readonly<Record<string, unknown>>): TileMatrices {
  const { origin, resolutions, tile_size: size = fields.tileSize ?? 256 } = fields
  const [left, top] = Array.isArray(origin) ? origin.map(Number) : []
  return ownMatrices({
    code,
    left: left ?? Number.NaN,
    top: top ?? Number.NaN,
    columns: Number(size),
    rows: Number(size),
    resolutions: Array.isArray(resolutions) ? resolutions.map(Number) : [],
  })
}

/** Writers of GeoJSON's old member put the name into an object. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value.trim()
  const name: unknown = (value as { properties?: { name?: unknown } } | null | undefined)?.properties?.name
  return typeof name === 'string' ? name.trim() : ''
}

function keyOf(named: string): string {
  const upper = named.toUpperCase()
  const code = /^(?:URN:|HTTPS?:|EPSG:|ESRI:|OGC:|OSGEO:)/.test(upper)
    ? upper.slice(Math.max(upper.lastIndexOf(':'), upper.lastIndexOf('/')) + 1)
    : upper
  return code
}
