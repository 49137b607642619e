import { z } from 'zod'
import { boundsSchema } from './basemap.js'
import { timestampSchema } from './common.js'
import { messageFields, sentence } from './messages.js'

export const EXPORT_STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const

const degrees = { longitude: z.number().min(-180).max(180), latitude: z.number().min(-90).max(90) }

const zoom = z.int().min(0).max(26)

export const exportBodySchema = z.strictObject({
  basemap_code: z.string().min(1),
  version: z.string().min(1).describe('a label, or `current` for what is the default now'),
  bounds: z
    .tuple([degrees.longitude, degrees.latitude, degrees.longitude, degrees.latitude])
    .meta({ items: { type: 'number' }, minItems: 4, maxItems: 4 })
    .refine(([, south, , north]) => south < north, sentence('said.south_north'))
    .refine(([west, , east]) => west !== east, sentence('said.west_east'))
    .optional()
    .describe('west, south, east, north in degrees; west above east: across the antimeridian; left out: all of it'),
  zoom_min: zoom.optional().describe('left out: that of the version'),
  zoom_max: zoom.optional().describe('left out: that of the version'),
  target_code: z.string().min(1).optional().describe('a target that the archive is pushed to once it is written'),
})
export type ExportBody = z.infer<typeof exportBodySchema>

export const exportSchema = z.object({
  id: z.uuid(),
  basemap_code: z.string(),
  version: z.string(),
  bounds: boundsSchema.nullable().describe('what was requested; null: all of the version'),
  zoom_min: z.int(),
  zoom_max: z.int(),
  target_code: z.string().nullable(),
  push_id: z.uuid().nullable().describe('the push record of its delivery to the target; null: there is none (yet)'),
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
    .describe('when the archive and this record are removed; null until it has ended'),
})
export type Export = z.infer<typeof exportSchema>
