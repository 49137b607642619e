import { z } from 'zod'
import { timestampSchema } from './common.js'

export const SLICE_STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const
export type SliceStatus = (typeof SLICE_STATUSES)[number]

export const sliceJobSchema = z.object({
  id: z.uuid(),
  code: z.string(),
  name: z.string(),
  source_count: z.int(),
  source_paths: z.array(z.string()),
  target_code: z.string(),
  output_root: z.string(),
  zoom_min: z.int(),
  zoom_max: z.int(),
  tile_size: z.int(),
  tile_format: z.string(),
  status: z.enum(SLICE_STATUSES),
  message: z.string(),
  log_path: z.string(),
  callback_url: z.string(),
  callback_status: z.string(),
  callback_attempts: z.int().optional(),
  callback_message: z.string().optional(),
  created_at: timestampSchema,
  requested_by: z.string(),
  progress: z.number().min(0).max(100),
})
export type SliceJob = z.infer<typeof sliceJobSchema>
