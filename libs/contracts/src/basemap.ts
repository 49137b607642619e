import { z } from 'zod'
import { timestampSchema } from './common.js'

export const STORAGES = ['xyz', 'tms', 'mbtiles', 'pmtiles'] as const
export type Storage = (typeof STORAGES)[number]

export const TILE_FORMATS = ['png', 'jpg', 'webp', 'avif', 'pbf'] as const
export type TileFormat = (typeof TILE_FORMATS)[number]

/** The grids that tiles may lie in. */
export const TILE_MATRIX_SET_IDS = ['WebMercatorQuad', 'WorldCRS84Quad', 'CGCS2000Quad'] as const
export type TileMatrixSetId = (typeof TILE_MATRIX_SET_IDS)[number]

/** The alias of a basemap's default version in addresses; never a version's own label. */
export const CURRENT_VERSION = 'current'

/** WGS 84 west, south, east, north, in degrees. West above east: across the antimeridian (RFC 7946, 5.2). */
export const boundsSchema = z.tuple([z.number(), z.number(), z.number(), z.number()]).meta({
  description: 'west, south, east, north in degrees; west above east: across the antimeridian (RFC 7946, 5.2)',
  // JSON Schema needs neither for a tuple; generators and linters that do not know `prefixItems` do.
  items: { type: 'number' },
  minItems: 4,
  maxItems: 4,
})
export type Bounds = z.infer<typeof boundsSchema>

/** A layer of a vector tile set, as TileJSON 3.0 lists it. */
export const vectorLayerSchema = z.looseObject({
  id: z.string(),
  fields: z.record(z.string(), z.string()).optional(),
})
export type VectorLayer = z.infer<typeof vectorLayerSchema>

export const basemapVersionSchema = z.object({
  version: z.string(),
  storage: z.enum(STORAGES),
  format: z.enum(TILE_FORMATS),
  tile_size: z.int(),
  min_zoom: z.int(),
  max_zoom: z.int(),
  bounds: boundsSchema.nullable(),
  tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS).describe('the grid that the tiles lie in'),
  crs: z.string().describe('the coordinate system of that grid, `EPSG:3857` say'),
  revision: z
    .int()
    .min(1)
    .describe(
      'grows whenever the content may have changed (sliced into, imported again, found changed by a scan); TileJSON puts it into tile ' +
        'addresses as `v`, so that caches keep nothing of an older content under them',
    ),
  available: z.boolean(),
  scanned_at: timestampSchema,
})
export type BasemapVersion = z.infer<typeof basemapVersionSchema>

export const withdrawnSchema = z
  .boolean()
  .describe('an operator has taken it from its readers: neither served nor listed, whatever scans find')
/** What administrators see of a basemap or vector beside the catalog's own fields. */
export const withdrawableFields = {
  withdrawn: withdrawnSchema,
  source_enabled: z
    .boolean()
    .describe('whether its scan source is enabled; nothing of a disabled one is served or listed'),
} as const

export const CACHE_POLICIES = ['interface', 'private', 'shared'] as const
export type CachePolicy = (typeof CACHE_POLICIES)[number]
const cachePolicySchema = z
  .enum(CACHE_POLICIES)
  .describe(
    'who may keep tiles: `interface`: as the interface and TILE_CACHE_CONTROL say; `private`: browsers alone; `shared`: caches in front too, for `s_maxage`',
  )
const sharedMaxAgeSchema = z
  .int()
  .min(0)
  .max(31_536_000)
  .describe('seconds for which shared caches may keep a tile; with `shared` alone')

export const withdrawBodySchema = z.strictObject({ withdrawn: withdrawnSchema })

export const basemapPatchSchema = z
  .strictObject({
    withdrawn: withdrawnSchema.optional(),
    cache_policy: cachePolicySchema.optional(),
    s_maxage: sharedMaxAgeSchema.optional().describe('with `shared`, which needs it'),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), { error: 'names nothing to change' })
  .refine((body) => (body.cache_policy === 'shared') === (body.s_maxage !== undefined), {
    error: 'cache_policy "shared" needs s_maxage, which belongs to nothing else',
  })

export type BasemapPatch = z.input<typeof basemapPatchSchema>

export const adminBasemapVersionSchema = basemapVersionSchema.extend({ path: z.string(), withdrawn: withdrawnSchema })
/** A version in the list of all. */
export const listedVersionSchema = adminBasemapVersionSchema.extend({ basemap_code: z.string() })
export type AdminBasemapVersion = z.infer<typeof adminBasemapVersionSchema>

export const basemapSchema = z.object({
  code: z.string(),
  name: z.string(),
  default_version: z
    .string()
    .nullable()
    .describe(
      'what `current` means: the version that an operator set, otherwise, and while that one is withdrawn, the highest that is available and not withdrawn',
    ),
  versions: z.array(basemapVersionSchema),
  url_template: z.string(),
  source_code: z.string(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
})
export type Basemap = z.infer<typeof basemapSchema>

export const adminBasemapSchema = basemapSchema.extend({
  versions: z.array(adminBasemapVersionSchema),
  ...withdrawableFields,
  cache_policy: cachePolicySchema,
  s_maxage: sharedMaxAgeSchema.nullable(),
})
export type AdminBasemap = z.infer<typeof adminBasemapSchema>

export const defaultVersionBodySchema = z.object({ version: z.string().min(1) })
