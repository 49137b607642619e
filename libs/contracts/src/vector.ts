import { z } from 'zod'
import { timestampSchema } from './common.js'

export const VECTOR_KINDS = ['geojson', 'shapefile'] as const
export type VectorKind = (typeof VECTOR_KINDS)[number]

export const vectorSchema = z.object({
  code: z.string(),
  name: z.string(),
  kind: z.enum(VECTOR_KINDS),
  relative_path: z.string().describe('path below its scan source, with forward slashes'),
  file_name: z.string(),
  size: z.int().describe('bytes; of a shapefile, its sidecar files included'),
  modified_at: timestampSchema,
  available: z.boolean(),
  source_code: z.string(),
  download_url: z.string(),
})
export type Vector = z.infer<typeof vectorSchema>

export const adminVectorSchema = vectorSchema.extend({ path: z.string() })
export type AdminVector = z.infer<typeof adminVectorSchema>
