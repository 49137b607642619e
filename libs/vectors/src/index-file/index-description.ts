import { z } from 'zod'

export const INDEX_FILE = 'index.gpkg'
export const DESCRIPTION_FILE = 'index.json'

const INDEX_FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'json'] as const

const layerSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** as in GeoJSON; `Geometry` for several kinds; null: no feature has a geometry */
  geometry_type: z.string().nullable(),
  feature_count: z.int(),
})

const fieldSchema = z.object({
  /** name in the source */
  name: z.string(),
  /** column in the table `features` */
  column: z.string(),
  type: z.enum(INDEX_FIELD_TYPES),
  /** the layers that have the field */
  layers: z.array(z.string()),
  /** true if SQLite's lower(), which knows ASCII only, returns for each value what CASEI does */
  ascii_folding: z.boolean().optional(),
})

/** Bytes of the features' texts in the table `feature_texts`. The texts of very large features are missing there. */
const textsSchema = z.object({ longest: z.int(), mean: z.int() })

/** index.json: describes the content of the index next to it. */
export const indexDescriptionSchema = z.object({
  version: z.literal(1),
  storage_crs: z.string().nullable(),
  /** the conversion to the storage CRS, and true if its first axis points north; null or absent: unknown */
  storage_definition: z.object({ proj4: z.string(), north_first: z.boolean() }).nullish(),
  /** west, south, east, north in degrees; null: no feature has a geometry */
  bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]).nullable(),
  feature_count: z.int(),
  geometry_type: z.string().nullable(),
  /** true if a geometry has heights; absent: an index of an earlier release */
  has_z: z.boolean().optional(),
  layers: z.array(layerSchema),
  fields: z.array(fieldSchema),
  /** absent: an index of an earlier release, which has no texts */
  texts: textsSchema.optional(),
  /** geometries that have no place on the earth or cannot be read, and the first of their features as `layer.id` */
  damaged: z.object({ count: z.int(), examples: z.array(z.string()) }).optional(),
})
export type IndexDescription = z.infer<typeof indexDescriptionSchema>
export type IndexField = IndexDescription['fields'][number] & {
  /** name in a feature, if fields of several layers share it, so that `name` is another one; absent: `name` */
  readonly shown?: string
}
export type FeatureTexts = z.infer<typeof textsSchema>
export type IndexLayer = IndexDescription['layers'][number]

/** Returns a name as an identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Limit: whole numbers that JavaScript represents exactly. */
const EXACT = Number.MAX_SAFE_INTEGER

/** Returns the expression that selects a field's values. Whole numbers that exceed the range of JavaScript become texts. */
export function shownColumn({ column, type }: Pick<IndexField, 'column' | 'type'>): string {
  const name = quoted(column)
  if (type !== 'integer') return name
  return `CASE WHEN ${name} NOT BETWEEN -${EXACT} AND ${EXACT} THEN CAST(${name} AS TEXT) ELSE ${name} END`
}
