import { z } from 'zod'
import {
  boundsSchema,
  MAX_LATITUDE,
  MAX_LONGITUDE,
  newVersionSchema,
  onOneTurn,
  TILE_FORMATS,
  type TileFormat,
} from './basemap.js'
import { timestampSchema } from './common.js'
import { messageFields, sentence } from './messages.js'

export const EXPORT_STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const

/** Archive formats of exports: PMTiles 3, MBTiles 1.3, GeoPackage 1.3, Esri's tile package. */
export const EXPORT_FORMATS = ['pmtiles', 'mbtiles', 'gpkg', 'tpkx'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Tile formats that an archive may contain. For GeoPackages they are those of the standard. Esri's specification has PNG and JPEG, and its clients also read WebP. */
export const FORMATS_IN_ARCHIVES: Readonly<Record<ExportFormat, readonly TileFormat[]>> = {
  pmtiles: TILE_FORMATS,
  mbtiles: TILE_FORMATS,
  gpkg: ['png', 'jpg', 'webp'],
  tpkx: ['png', 'jpg', 'webp'],
}

const degrees = {
  longitude: z.number().min(-MAX_LONGITUDE).max(MAX_LONGITUDE),
  latitude: z.number().min(-MAX_LATITUDE).max(MAX_LATITUDE),
}

const zoom = z.int().min(0).max(26)

export const exportBodySchema = z.strictObject({
  basemap_code: z.string().min(1),
  version: z.string().min(1).describe('a label, or `current` for the present default version'),
  from_version: z
    .string()
    .min(1)
    .optional()
    .describe(
      'an older version: the archive has the tiles that were added and changed since, and lists the removed ones; omitted: the archive has the ' +
        'whole version',
    ),
  format: z
    .enum(EXPORT_FORMATS)
    .default('pmtiles')
    .describe(
      'format of the archive: PMTiles 3, MBTiles 1.3, a GeoPackage with one table of tiles, or a tile package for ArcGIS; the last two hold ' +
        'images only',
    ),
  bounds: z
    .tuple([degrees.longitude, degrees.latitude, degrees.longitude, degrees.latitude])
    .meta({ items: { type: 'number' }, minItems: 4, maxItems: 4 })
    .refine(([, south, , north]) => south < north, sentence('said.south_north'))
    .refine(([west, , east]) => west !== east, sentence('said.west_east'))
    .overwrite(onOneTurn)
    .optional()
    .describe(
      'west, south, east, north in degrees; if west is above east, or one is beyond 180, the area crosses the antimeridian; omitted: the whole version',
    ),
  zoom_min: zoom.optional().describe('omitted: the zoom of the version'),
  zoom_max: zoom.optional().describe('omitted: the zoom of the version'),
  target_code: z.string().min(1).optional().describe('a target to which the finished archive is pushed'),
  publish_as: newVersionSchema
    .optional()
    .describe(
      'only for a version of a service: label of the new version of the same basemap whose tiles are those of the archive; PMTiles only',
    ),
})
export type ExportBody = z.infer<typeof exportBodySchema>
/** The form that a client sends. */
export type ExportInput = z.input<typeof exportBodySchema>

export const exportSchema = z.object({
  id: z.uuid(),
  basemap_code: z.string(),
  version: z.string(),
  from_version: z
    .string()
    .nullable()
    .describe('the version to which the delta is applied; null: the archive has the whole version'),
  format: z.enum(EXPORT_FORMATS).describe('format of the archive'),
  bounds: boundsSchema.nullable().describe('the requested area; null: the whole version'),
  zoom_min: z.int(),
  zoom_max: z.int(),
  target_code: z.string().nullable(),
  push_id: z
    .uuid()
    .nullable()
    .describe(
      'the push record of its delivery to the target; null: the delivery has not begun, or no target was named',
    ),
  publish_as: z.string().nullable().describe('the version as which its tiles are served; null: they are not'),
  status: z.enum(EXPORT_STATUSES),
  message: z.string().describe('why it failed; empty otherwise'),
  ...messageFields,
  progress: z.number().min(0).max(100),
  tiles: z.int().nullable().describe('addresses that have a tile in the archive; null until it is written'),
  bytes: z.int().nullable().describe('size of the archive; null until it is written'),
  download_url: z.string().nullable().describe('null until it is written'),
  requested_by: z.string(),
  created_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
  expires_at: timestampSchema
    .nullable()
    .describe('when the archive and this record are removed; null until the export has ended'),
})
export type Export = z.infer<typeof exportSchema>

/** Limit: archives of one basemap in the list for devices. */
export const MAX_ARCHIVES = 200

/** Extension: an archive by which a device keeps a copy of a basemap. */
export const archiveSchema = z.object({
  id: z.uuid(),
  version: z.string().describe('the version that a device has after applying it'),
  from_version: z
    .string()
    .nullable()
    .describe('the version to which the delta is applied; null: the archive has the whole version'),
  tiles: z.int().describe('addresses that have a tile in the archive'),
  bytes: z.int(),
  download_url: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema.nullable().describe('when the archive is removed'),
})
export type Archive = z.infer<typeof archiveSchema>
