import { z } from 'zod'
import { boundsSchema, withdrawableFields, withdrawnSchema } from './basemap.js'
import { timestampSchema } from './common.js'
import { type CodedMessage, messageFields, sentence } from './messages.js'
import type { DatabaseRelation } from './postgis.js'

export const VECTOR_KINDS = [
  'geojson',
  'shapefile',
  'geopackage',
  'flatgeobuf',
  'geojson_sequence',
  'zipped_shapefile',
  'kml',
  'kmz',
  'gml',
  'csv',
  'gpx',
  'dxf',
  'zipped_geodatabase',
  'zipped_mapinfo',
  'postgis',
  'postgis-function',
] as const
export type VectorKind = (typeof VECTOR_KINDS)[number]

/**
 * Extension and media type of downloads by kind. The media types are registered with IANA, except those of FlatGeobuf and GPX, which their own
 * tools use, and that of JSON lines. `geo+json-seq` would promise a record separator before each feature, which most such files lack.
 */
export const VECTOR_DOWNLOADS: Readonly<Record<VectorKind, { readonly extension: string; readonly type: string }>> = {
  geojson: { extension: 'geojson', type: 'application/geo+json' },
  shapefile: { extension: 'zip', type: 'application/zip' },
  geopackage: { extension: 'gpkg', type: 'application/geopackage+sqlite3' },
  flatgeobuf: { extension: 'fgb', type: 'application/flatgeobuf' },
  geojson_sequence: { extension: 'geojsonl', type: 'application/x-ndjson' },
  zipped_shapefile: { extension: 'zip', type: 'application/zip' },
  kml: { extension: 'kml', type: 'application/vnd.google-earth.kml+xml' },
  kmz: { extension: 'kmz', type: 'application/vnd.google-earth.kmz' },
  gml: { extension: 'gml', type: 'application/gml+xml' },
  csv: { extension: 'csv', type: 'text/csv' },
  gpx: { extension: 'gpx', type: 'application/gpx+xml' },
  dxf: { extension: 'dxf', type: 'image/vnd.dxf' },
  zipped_geodatabase: { extension: 'zip', type: 'application/zip' },
  zipped_mapinfo: { extension: 'zip', type: 'application/zip' },
  // A table has no stored form; `/download` sends GeoJSON.
  postgis: { extension: 'geojson', type: 'application/geo+json' },
  'postgis-function': { extension: 'geojson', type: 'application/geo+json' },
}

/** Names of GeoJSON; `Geometry` for several kinds, and for curves and surfaces, for which GeoJSON has no names. */
export const GEOMETRY_TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
  'MultiPatch',
  'Geometry',
] as const
export type GeometryType = (typeof GEOMETRY_TYPES)[number]

/** Kinds of geometries by their numbers in Well-Known Binary and in FlatGeobuf. 0 means any kind. */
export const NUMBERED_GEOMETRY_TYPES = [
  'Geometry',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
] as const satisfies readonly GeometryType[]

/** The geometries of GeoJSON (RFC 7946, section 1.4). */
export const GEOJSON_GEOMETRIES: ReadonlySet<string> = new Set(NUMBERED_GEOMETRY_TYPES.slice(1))

export const VECTOR_FIELD_TYPES = ['string', 'number', 'boolean', 'date', 'json'] as const
export type VectorFieldType = (typeof VECTOR_FIELD_TYPES)[number]

const vectorFieldSchema = z.object({
  name: z.string(),
  type: z.enum(VECTOR_FIELD_TYPES).describe('`json`: any other type, or values of several types'),
})

/** Source of a known encoding; see the schema. */
export const ENCODING_SOURCES = ['format', 'cpg', 'table', 'operator'] as const

/** The facts that a scan reads from a vector's content. */
export const vectorFactsSchema = z.object({
  crs: z.string().nullable().describe('for example `EPSG:4326`; the name in the file if the CRS has no known code'),
  bounds: boundsSchema.nullable(),
  geometry_type: z
    .enum(GEOMETRY_TYPES)
    .nullable()
    .describe(
      'in a shapefile, `LineString` and `Polygon` may have several parts; `Geometry`: several kinds, or curves and surfaces',
    ),
  feature_count: z.int().nullable(),
  fields: z.array(vectorFieldSchema).nullable().describe('null also if there are more than 256'),
  encoding: z.string().nullable().describe('encoding of the texts: `UTF-8`, `GBK`, ...'),
  encoding_source: z
    .enum(ENCODING_SOURCES)
    .nullable()
    .describe(
      'how the encoding is known. `format`: the format prescribes it or has it in its header; `cpg`: the `.cpg` of a shapefile; `table`: the ' +
        'language driver of its table; `operator`: an operator has set it. null with an encoding: a scan has recognized it from the bytes of the ' +
        'texts',
    ),
})
export type VectorFacts = z.infer<typeof vectorFactsSchema>
export type VectorField = z.infer<typeof vectorFieldSchema>

/** The facts that a scan read from a vector's content. */
export interface ReadFacts extends VectorFacts {
  /**
   * the fields of a table with non-ASCII names. Each name has its raw bytes as characters of ISO 8859-1, so that a changed encoding needs no second
   * reading of the file
   */
  readonly raw_fields?: readonly VectorField[] | undefined
  /** warnings of a scan, valid while the content is unchanged; the scan adds the parameter `file` */
  readonly warnings?: readonly CodedMessage[] | undefined
  /** what of a database it is */
  readonly relation?: DatabaseRelation | undefined
  /** the comment on the table or function */
  readonly description?: string | undefined
}

export const UNKNOWN_FACTS: VectorFacts = {
  crs: null,
  bounds: null,
  geometry_type: null,
  feature_count: null,
  fields: null,
  encoding: null,
  encoding_source: null,
}

export const VECTOR_TILE_STATUSES = ['none', 'building', 'ready', 'failed'] as const

const vectorTilesSchema = z.object({
  status: z
    .enum(VECTOR_TILE_STATUSES)
    .describe(
      '`building`: the tiles wait for their turn or are being made; until they are ready, the tiles of the previous content are served',
    ),
  message: z
    .string()
    .describe('why they could not be built, or which features of ready tiles have no usable geometry; otherwise empty'),
  ...messageFields,
  min_zoom: z.int().nullable(),
  max_zoom: z.int().nullable(),
  built_at: timestampSchema.nullable(),
  left_out: z
    .record(z.string(), z.int())
    .describe('by zoom: features that no tile shows, since they are too small or too dense there'),
})

/** Maximum zoom of vector tiles. */
export const MAX_VECTOR_ZOOM = 18

export const vectorSchema = z.object({
  code: z.string(),
  name: z.string(),
  kind: z.enum(VECTOR_KINDS),
  relative_path: z.string().describe('path below its scan source, with forward slashes'),
  file_name: z.string(),
  size: z.int().describe('size in bytes; for a shapefile including its sidecar files'),
  modified_at: timestampSchema,
  available: z.boolean(),
  source_code: z.string(),
  download_url: z.string(),
  revision: z.int().describe('increases with each content, and with each change of the tile settings'),
  description: z.string().nullable().describe('the comment on the table or function of a database; null: it has none'),
  tiles: vectorTilesSchema.describe('the state of its vector tiles'),
  ...vectorFactsSchema.shape,
})
export type Vector = z.infer<typeof vectorSchema>

export const adminVectorSchema = vectorSchema.extend({
  path: z.string(),
  tile_min_zoom: z
    .int()
    .nullable()
    .describe('the value that an operator has set; null: chosen by the density of the data'),
  tile_max_zoom: z.int().nullable(),
  tile_fields: z.array(z.string()).nullable().describe('the attributes in the tiles; null: all'),
  ...withdrawableFields,
})
export type AdminVector = z.infer<typeof adminVectorSchema>

/** Maximum characters of an encoding's name; the longest known one has half as many. */
const MAX_ENCODING = 40

/** Limits: number of attributes that tiles are restricted to, and characters of one. */
const MAX_TILE_FIELDS = 200
const MAX_FIELD_NAME = 200

export const vectorPatchBodySchema = z
  .strictObject({
    withdrawn: withdrawnSchema.optional(),
    encoding: z
      .string()
      .max(MAX_ENCODING)
      .optional()
      .describe(
        'only for shapefiles (also in a zip), GeoJSON and CSV: the encoding of the texts, whatever the files say; empty: the files decide',
      ),
    tile_min_zoom: z
      .int()
      .min(0)
      .max(MAX_VECTOR_ZOOM)
      .nullable()
      .optional()
      .describe('null: chosen by the density of the data'),
    tile_max_zoom: z
      .int()
      .min(0)
      .max(MAX_VECTOR_ZOOM)
      .nullable()
      .optional()
      .describe('null: chosen by the density of the data'),
    tile_fields: z
      .array(z.string().min(1).max(MAX_FIELD_NAME))
      .max(MAX_TILE_FIELDS)
      .nullable()
      .optional()
      .describe('the attributes in the tiles, such as those that a style uses; null: all'),
    tiles: z
      .boolean()
      .optional()
      .describe('false: no vector tiles are built; true: they are built, and failed ones are built again'),
  })
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), {
    message: sentence('said.withdrawn_or_encoding'),
  })
