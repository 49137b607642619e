import { extname } from 'node:path'
import type { VectorKind } from '@gateway/contracts/vector.js'

const KINDS: ReadonlyMap<string, VectorKind> = new Map([
  ['.geojson', 'geojson'],
  ['.json', 'geojson'],
  ['.shp', 'shapefile'],
  ['.gpkg', 'geopackage'],
  ['.fgb', 'flatgeobuf'],
  ['.geojsonl', 'geojson_sequence'],
  ['.geojsons', 'geojson_sequence'],
  ['.ndjson', 'geojson_sequence'],
  ['.zip', 'zipped_shapefile'],
  ['.kml', 'kml'],
  ['.kmz', 'kmz'],
  ['.gml', 'gml'],
  ['.csv', 'csv'],
  ['.gpx', 'gpx'],
  ['.dxf', 'dxf'],
])

/** Returns the kind that a file may be by its name; its content decides. */
export function kindOf(name: string): VectorKind | null {
  return KINDS.get(extname(name).toLowerCase()) ?? null
}

/** In lower case, with the dot. */
export const VECTOR_EXTENSIONS: readonly string[] = [...KINDS.keys()]
