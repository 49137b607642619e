import { z } from 'zod'
import { timestampSchema } from './common.js'

export const STORAGES = ['xyz', 'tms', 'mbtiles', 'pmtiles'] as const
export type Storage = (typeof STORAGES)[number]

export const TILE_FORMATS = ['png', 'jpg', 'webp', 'avif', 'pbf'] as const
export type TileFormat = (typeof TILE_FORMATS)[number]

/** The alias of a basemap's default version in addresses; never a version's own label. */
export const CURRENT_VERSION = 'current'

/** WGS 84 west, south, east, north, in degrees. */
export const boundsSchema = z.tuple([z.number(), z.number(), z.number(), z.number()])
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
  available: z.boolean(),
  scanned_at: timestampSchema,
})
export type BasemapVersion = z.infer<typeof basemapVersionSchema>

export const adminBasemapVersionSchema = basemapVersionSchema.extend({ path: z.string() })

export const basemapSchema = z.object({
  code: z.string(),
  name: z.string(),
  default_version: z.string().nullable(),
  versions: z.array(basemapVersionSchema),
  url_template: z.string(),
  source_code: z.string(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
})
export type Basemap = z.infer<typeof basemapSchema>

export const adminBasemapSchema = basemapSchema.extend({ versions: z.array(adminBasemapVersionSchema) })
export type AdminBasemap = z.infer<typeof adminBasemapSchema>

export const defaultVersionBodySchema = z.object({ version: z.string().min(1) })
