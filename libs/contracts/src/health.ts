import { z } from 'zod'
import { timestampSchema } from './common.js'

export const healthCheckSchema = z.object({
  checked_at: timestampSchema,
  versions_checked: z.int(),
  versions_missing: z.int(),
  vectors_checked: z.int(),
  vectors_missing: z.int(),
})
export type HealthCheck = z.infer<typeof healthCheckSchema>

/** The service and its places. */
export const systemSchema = z.object({
  service: z.literal('map-asset-gateway'),
  version: z.string(),
  api_base_url: z.string(),
  tile_base_url: z.string(),
  vector_base_url: z.string(),
  basemap_roots: z.array(z.string()),
  vector_roots: z.array(z.string()),
  slice_output_root: z.string(),
  slice_source_roots: z.array(z.string()),
})
