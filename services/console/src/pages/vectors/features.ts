import type { Bounds } from '@gateway/contracts/basemap.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import type { Feature, FeatureCollection, Geometry, Position } from 'geojson'

/** True if this page can read the features of a kind. */
export function canBeRead(kind: VectorKind): boolean {
  return ['geojson', 'geojson_sequence', 'shapefile', 'zipped_shapefile'].includes(kind)
}

/** Reads the features of a download: GeoJSON, a GeoJSON sequence, or a zip with shapefiles. Throws for any other content. */
export async function readFeatures(download: Blob, kind: VectorKind): Promise<FeatureCollection> {
  if (kind === 'geojson') return asCollection(JSON.parse(await download.text()))
  if (kind === 'geojson_sequence') return sequence(await download.text())
  const { parseZip } = await import('shpjs')
  const read = await parseZip(await download.arrayBuffer())
  const collections = Array.isArray(read) ? read : [read]
  return { type: 'FeatureCollection', features: collections.flatMap((collection) => collection.features) }
}

/** RFC 8142 requires a record separator before each text; most writers leave it out. */
function sequence(text: string): FeatureCollection {
  const lines = text
    .replaceAll('\x1e', '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  return { type: 'FeatureCollection', features: lines.flatMap((line) => asCollection(JSON.parse(line)).features) }
}

/** GeoJSON may also be a single feature or a bare geometry (RFC 7946, section 2). */
export function asCollection(geojson: FeatureCollection | Feature | Geometry): FeatureCollection {
  if (geojson.type === 'FeatureCollection') return geojson
  const feature: Feature =
    geojson.type === 'Feature' ? geojson : { type: 'Feature', properties: null, geometry: geojson }
  return { type: 'FeatureCollection', features: [feature] }
}

/** Returns WGS 84 west, south, east, north of all positions, or null without any position. */
export function boundsOf({ features }: FeatureCollection): Bounds | null {
  const bounds: Bounds = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { geometry } of features) extend(bounds, geometry)
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

/** Returns the names of attributes in the order in which they occur. */
export function attributeNames(features: readonly Feature[]): readonly string[] {
  const names = new Set<string>()
  for (const { properties } of features) for (const name of Object.keys(properties ?? {})) names.add(name)
  return [...names]
}

/** Returns an attribute as text, and a structured value as JSON. */
export function attributeText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
