import type { Bounds } from '@gateway/contracts/basemap.js'

export interface Camera {
  readonly zoom: number
  readonly lat: number
  readonly lon: number
}

/** Formats `zoom/lat/lon` for a URL; five decimals are about a metre. */
export function cameraText({ zoom, lat, lon }: Camera): string {
  return `${zoom.toFixed(2)}/${lat.toFixed(5)}/${lon.toFixed(5)}`
}

export function parseCamera(text: string | null): Camera | null {
  const [zoom, lat, lon, ...rest] = (text ?? '').split('/').map((part) => (part === '' ? Number.NaN : Number(part)))
  if (rest.length > 0 || zoom === undefined || lat === undefined || lon === undefined) return null
  const sane = zoom >= -2 && zoom <= 24 && Math.abs(lat) <= 90 && Math.abs(lon) <= 180
  return sane ? { zoom, lat, lon } : null
}

/** Bounds as a map takes them: east of the antimeridian, longitudes exceed 180 degrees. */
export function unbroken([west, south, east, north]: Bounds): Bounds {
  return [west, south, west > east ? east + 360 : east, north]
}
