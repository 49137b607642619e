import { z } from 'zod'

export const INDEX_FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'json'] as const

/** What `index.json` says of the index beside it. */
export const indexDescriptionSchema = z.object({
  version: z.literal(1),
  storage_crs: z.string().nullable(),
  /** how positions get into the storage CRS, and whether its first axis points north; null or absent: not known */
  storage_definition: z.object({ proj4: z.string(), north_first: z.boolean() }).nullish(),
  bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]).nullable(),
  feature_count: z.int(),
  geometry_type: z.string().nullable(),
  layers: z.array(
    z.object({ id: z.string(), name: z.string(), geometry_type: z.string().nullable(), feature_count: z.int() }),
  ),
  fields: z.array(
    z.object({ name: z.string(), column: z.string(), type: z.enum(INDEX_FIELD_TYPES), layers: z.array(z.string()) }),
  ),
})
export type IndexDescription = z.infer<typeof indexDescriptionSchema>
export type IndexField = IndexDescription['fields'][number]
