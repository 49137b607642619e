import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'

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

/**
 * Returns the grid that a set declares, or Web Mercator if it declares none.
 * @returns null for an unsupported grid, whose name is in `named`
 */
export function readGrid(fields: Readonly<Record<string, unknown>>): { grid: TileMatrixSetId | null; named: string } {
  for (const field of FIELDS) {
    const named = textOf(fields[field])
    if (named === '') continue
    return { grid: GRID_OF_NAME.get(keyOf(named)) ?? null, named }
  }
  return { grid: 'WebMercatorQuad', named: '' }
}

/** Returns the name from an object, the form of GeoJSON's old member. */
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
