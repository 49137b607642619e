import type { VectorLayer } from '@gateway/contracts/basemap.js'
import type { DatabaseTable } from '@gateway/contracts/postgis.js'
import { isNorthFirst } from '../formats/epsg.js'
import type { IndexDescription } from '../index-file/index-description.js'
import { fieldOf } from './columns.js'
import type { FoundRelation } from './read-relations.js'

/** Describes a table as an index describes its features. */
export function descriptionOf({
  relation,
  name,
  geometryType,
  count,
  bounds,
}: Pick<FoundRelation, 'relation' | 'name' | 'geometryType' | 'count' | 'bounds'>): IndexDescription {
  const isTable = relation.what === 'table'
  const table = isTable ? relation : null
  const crs = table === null ? null : `EPSG:${table.srid}`
  return {
    version: 1,
    storage_crs: crs,
    storage_definition:
      table === null || table.proj4 === null ? null : { proj4: table.proj4, north_first: isNorthFirst(table.srid) },
    bounds: bounds === null ? null : [...bounds],
    feature_count: count ?? 0,
    geometry_type: geometryType,
    has_z: table?.hasZ ?? false,
    layers: [{ id: name, name, geometry_type: geometryType, feature_count: count ?? 0 }],
    fields: (table?.columns ?? []).map(fieldOf),
  }
}

const LAYER_TYPES = { integer: 'Number', number: 'Number', boolean: 'Boolean' } as const

/** Describes the layer of the tiles of a table for TileJSON. */
export function vectorLayerOf(id: string, table: Pick<DatabaseTable, 'columns'>): VectorLayer {
  const typeOf = (type: string) => LAYER_TYPES[type as keyof typeof LAYER_TYPES] ?? 'String'
  return { id, fields: Object.fromEntries(table.columns.map((column) => [column.name, typeOf(fieldOf(column).type)])) }
}
