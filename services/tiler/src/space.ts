import type { Bounds, KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from '@gateway/contracts/tiling/protocol.js'
import { TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import { latitudeOf, longitudeOf, MAX_LATITUDE, mercatorX, mercatorY, unionOfBounds } from './mercator.js'

/** A box in a space's own units. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** The plane of the tiles: metres of EPSG:3857, or degrees of EPSG:4326 or EPSG:4490. */
export interface TileSpace {
  readonly id: KnownTileMatrixSetId
  readonly crs: string
  /** system of the longitudes and latitudes that `x` and `y` accept */
  readonly geographicCrs: string
  /** columns at zoom 0; the number of rows is always 2^z */
  readonly columns: 1 | 2
  readonly extent: Box
  /** width and height of a tile of zoom 0, in units */
  readonly tileSpan: number
  /** degrees; there are no tiles beyond */
  readonly maxLatitude: number
  x(longitude: number): number
  /** Clamps latitudes beyond the space to its edge. */
  y(latitude: number): number
  longitude(x: number): number
  latitude(y: number): number
}

function spaceOf(id: KnownTileMatrixSetId): TileSpace {
  const { crs, columns, extent } = TILE_MATRIX_SETS[id]
  const [west, south, east, north] = extent
  const isMercator = columns === 1
  const same = (degrees: number) => degrees
  return {
    id,
    crs,
    geographicCrs: isMercator ? 'EPSG:4326' : crs,
    columns: isMercator ? 1 : 2,
    extent: { west, south, east, north },
    tileSpan: north - south,
    maxLatitude: isMercator ? MAX_LATITUDE : 90,
    x: isMercator ? mercatorX : same,
    y: isMercator ? mercatorY : (latitude) => Math.max(-90, Math.min(90, latitude)),
    longitude: isMercator ? longitudeOf : same,
    latitude: isMercator ? latitudeOf : same,
  }
}

export const TILE_SPACES: Readonly<Record<KnownTileMatrixSetId, TileSpace>> = {
  WebMercatorQuad: spaceOf('WebMercatorQuad'),
  WorldCRS84Quad: spaceOf('WorldCRS84Quad'),
  CGCS2000Quad: spaceOf('CGCS2000Quad'),
}

/** Returns the units of the space per pixel of a tile. */
export function resolutionOf(space: TileSpace, zoom: number, tileSize: number): number {
  return space.tileSpan / (2 ** zoom * tileSize)
}

/** Returns the zoom whose pixels are nearest in size to pixels of so many units. */
export function nearestZoom(space: TileSpace, resolution: number, tileSize: number): number {
  const zoom = Math.round(Math.log2(resolutionOf(space, 0, tileSize) / resolution))
  return Math.max(0, Math.min(MAX_ZOOM, zoom))
}

/** Returns the smallest bounds in degrees around boxes, like `unionOfBounds`. */
export function boundsAround(space: TileSpace, boxes: readonly Box[]): Bounds {
  return unionOfBounds(
    boxes.map(
      ({ west, south, east, north }) =>
        [space.longitude(west), space.latitude(south), space.longitude(east), space.latitude(north)].map(
          (degrees) => Math.round(degrees * 1e9) / 1e9,
        ) as Bounds,
    ),
  )
}
