/** Units along the side of a tile (Mapbox Vector Tile 2.1: `extent`). */
export const EXTENT = 4096

/** Width of the geometry beyond a tile's edges, in units, so that wide lines and outlines are drawn without seams. */
export const BUFFER = 64

/** Maximum latitude of Web Mercator. */
export const MAX_LATITUDE = 85.0511287798066

/** Web Mercator: the world from 0 to 1, from the west. Longitudes beyond 180 degrees lie outside of that range. */
export function worldX(longitude: number): number {
  return longitude / 360 + 0.5
}

/** From the north. */
export function worldY(latitude: number): number {
  const clamped = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude))
  const sine = Math.sin((clamped * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}

export function longitudeOf(x: number): number {
  return (x - 0.5) * 360
}

export function latitudeOf(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
}
