import type { Bounds } from '@gateway/contracts/basemap.js'
import type { Geometry, Position } from 'geojson'

/** WGS 84 west, south, east, north of a geometry; null if it has no positions. */
export function boundsOf(geometry: Geometry | null): Bounds | null {
  const bounds: Bounds = [Infinity, Infinity, -Infinity, -Infinity]
  extend(bounds, geometry)
  return bounds[0] <= bounds[2] ? bounds : null
}

function extend(bounds: Bounds, geometry: Geometry | null): void {
  if (geometry === null) return
  if (geometry.type === 'GeometryCollection') {
    for (const part of geometry.geometries) extend(bounds, part)
  } else {
    extendBy(bounds, geometry.coordinates)
  }
}

function extendBy(bounds: Bounds, coordinates: Position | Position[] | Position[][] | Position[][][]): void {
  if (typeof coordinates[0] === 'number') {
    const [lon, lat] = coordinates as Position
    if (lon === undefined || lat === undefined) return
    bounds[0] = Math.min(bounds[0], lon)
    bounds[1] = Math.min(bounds[1], lat)
    bounds[2] = Math.max(bounds[2], lon)
    bounds[3] = Math.max(bounds[3], lat)
    return
  }
  for (const part of coordinates as Position[][]) extendBy(bounds, part)
}

/** An attribute as text; a list or an object as JSON. */
export function attributeText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
