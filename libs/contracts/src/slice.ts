import { z } from 'zod'
import { TILE_MATRIX_SET_IDS } from './basemap.js'
import { timestampSchema } from './common.js'
import { messageFields } from './messages.js'
import { DELIVERY_STATUSES } from './push.js'
import { warningsField } from './warning.js'

export const SLICE_STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const
export type SliceStatus = (typeof SLICE_STATUSES)[number]

/** Content of tiles: images, or elevations encoded in red, green and blue. */
export const SLICE_ENCODINGS = ['rgb', 'terrarium', 'mapbox'] as const
export type SliceEncoding = (typeof SLICE_ENCODINGS)[number]

/** Interpolation between the pixels of an image. `auto`: `nearest` if all images have palettes, `cubic` for others; heights have their own. */
export const SLICE_RESAMPLINGS = ['auto', 'nearest', 'bilinear', 'cubic'] as const
export type SliceResampling = (typeof SLICE_RESAMPLINGS)[number]

/** Storage of a layer's version on disk: a folder of tiles, or one PMTiles archive. */
export const SLICE_OUTPUTS = ['folder', 'pmtiles'] as const
export type SliceOutput = (typeof SLICE_OUTPUTS)[number]

export const sliceJobSchema = z.object({
  id: z.uuid(),
  code: z.string(),
  name: z.string(),
  source_count: z.int(),
  source_paths: z.array(z.string()),
  target_code: z.string(),
  output_root: z
    .string()
    .describe(
      'SLICE_OUTPUT_ROOT/{target_code}/{version}, followed by `.pmtiles` for that output. While the job is pending, the version is the one ' +
        'that it gets if the jobs before it succeed; it is final when the job starts. Without a version: the job ended before it got one, or ' +
        'cannot get one',
    ),
  zoom_min: z.int(),
  zoom_max: z.int(),
  zoom_max_native: z
    .boolean()
    .describe(
      '`zoom_max` was submitted as `native`: until the sources have been sliced it is `zoom_min`, then their zoom',
    ),
  tile_size: z.int(),
  tile_format: z.string(),
  tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS).describe('the grid of the tiles'),
  encoding: z.enum(SLICE_ENCODINGS).describe('content of the tiles: pictures (`rgb`), or heights'),
  resampling: z
    .enum(SLICE_RESAMPLINGS)
    .describe('interpolation between the pixels of the images; `auto`: chosen by their kind'),
  output: z.enum(SLICE_OUTPUTS).describe('form of the version of the layer: a folder of tiles, or one PMTiles archive'),
  status: z.enum(SLICE_STATUSES),
  message: z.string(),
  ...messageFields,
  ...warningsField,
  log_path: z.string(),
  callback_url: z
    .string()
    .describe('only the token that submitted the job and the role `admin` see its query and user'),
  callback_status: z
    .enum(['', ...DELIVERY_STATUSES])
    .describe('status of the delivery of the callback; empty: the job has not ended, or has no `callback_url`'),
  callback_attempts: z.int().optional(),
  callback_message: z.string().optional(),
  callback_message_code: messageFields.message_code.optional(),
  callback_message_params: messageFields.message_params.optional(),
  created_at: timestampSchema,
  started_at: timestampSchema
    .nullable()
    .describe('when it was last started; null: it still waits, or ended while it waited'),
  finished_at: timestampSchema.nullable(),
  requested_by: z.string(),
  progress: z.number().min(0).max(100),
  cancelled: z
    .boolean()
    .describe('the job ended as `failed` because somebody cancelled it; `message` says who and when'),
  acknowledged_at: timestampSchema.nullable().describe('when somebody acknowledged the failure; null: nobody has'),
})
export type SliceJob = z.infer<typeof sliceJobSchema>

/** A job in lists, with `source_count` instead of the paths, of which there may be thousands. */
export const listedSliceJobSchema = sliceJobSchema.omit({ source_paths: true })
export type ListedSliceJob = z.infer<typeof listedSliceJobSchema>

/** An entry of a directory with source images. */
export const sliceFileSchema = z.object({
  name: z.string(),
  path: z.string().describe('absolute'),
  kind: z.enum(['file', 'directory']),
  size: z.int().describe('bytes; 0 for a directory'),
})
export type SliceFile = z.infer<typeof sliceFileSchema>
