import type { BasemapVersion } from '@gateway/contracts/basemap.js'

/** Metres per degree on Web Mercator's sphere; the map's scale is that of the equator. */
const METRES_PER_DEGREE = (Math.PI * 6378137) / 180

/**
 * Longitude and latitude as a plane, for the map library's `addProjection`. Its grid is a square whose upper half is the world: each zoom has
 * the columns and rows of the next higher zoom in WorldCRS84Quad and CGCS2000Quad, whose zoom 0 has two tiles. WGS 84 and CGCS2000 are equal here.
 */
export const GEOGRAPHIC = {
  name: 'EPSG:4326' as const,
  projection: {
    forward: ([lon = 0, lat = 0]: number[]) => [lon * METRES_PER_DEGREE, lat * METRES_PER_DEGREE],
    inverse: ([x = 0, y = 0]: number[]) => [x / METRES_PER_DEGREE, y / METRES_PER_DEGREE],
  },
  tileMatrixSet: {
    origin: [-180 * METRES_PER_DEGREE, 90 * METRES_PER_DEGREE] as [number, number],
    extentAtZoom0: 360 * METRES_PER_DEGREE,
  },
}

/**
 * Returns the latitude at which GeoJSON must be placed for a given latitude in the plane. The library projects tiles into the plane, but draws GeoJSON
 * in Web Mercator. Degrees.
 */
export function drawnLatitude(latitude: number): number {
  return (Math.atan(Math.sinh(Math.PI * (0.5 + latitude / 180))) * 180) / Math.PI
}

/** Prefix of a URL whose zoom counts in the map's square; see `gridAddress`. */
const SQUARE = 'geographic:'

/** Returns a template for the map, in whose square each zoom is one higher than that of the set. */
export function squareTemplate(template: string): string {
  return SQUARE + template
}

/** Prefix of a URL whose row the gateway counts from the other side. */
const FLIPPED = 'flipped:'

/** Returns a template for a set whose rows are drawn in the opposite order to the served one. */
export function flippedTemplate(template: string): string {
  return FLIPPED + template
}

/** Returns the URL of the set's tile for one that the map built from `squareTemplate` or `flippedTemplate`. Other URLs stay unchanged. */
export function gridAddress(address: string): string {
  if (address.startsWith(FLIPPED)) return flipped(gridAddress(address.slice(FLIPPED.length)))
  if (!address.startsWith(SQUARE)) return address
  const parts = address.slice(SQUARE.length).split('/')
  const zoom = parts.length - 3
  return parts.with(zoom, String(Number(parts[zoom]) - 1)).join('/')
}

function flipped(address: string): string {
  const parts = address.split('/')
  const [zoom = '', , row = ''] = parts.slice(-3)
  const dot = row.indexOf('.')
  const other = 2 ** Number(zoom) - 1 - Number(row.slice(0, dot))
  return [...parts.slice(0, -1), `${other}${row.slice(dot)}`].join('/')
}

/** True if the tiles lie in the version's own grid, which no map of the console draws. */
export function isOwnGrid({ tile_matrix_set: grid }: Pick<BasemapVersion, 'tile_matrix_set'>): boolean {
  return grid.startsWith('EPSG')
}

/** Columns of the grid's zoom 0; it has one row. */
export function columnsOf(version: Pick<BasemapVersion, 'tile_matrix_set'>): 1 | 2 {
  return version.tile_matrix_set === 'WebMercatorQuad' ? 1 : 2
}
