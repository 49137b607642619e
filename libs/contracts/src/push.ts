import { z } from 'zod'
import { timestampSchema } from './common.js'

export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

const recordSchema = z.object({
  id: z.uuid(),
  target_code: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  message: z.string(),
  next_attempt_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
})

export const pushRecordSchema = recordSchema.extend({ basemap_code: z.string(), version: z.string() })
export type PushRecord = z.infer<typeof pushRecordSchema>

export const vectorPushRecordSchema = recordSchema.extend({ vector_code: z.string() })
export type VectorPushRecord = z.infer<typeof vectorPushRecordSchema>

export const pushBodySchema = z.strictObject({
  target_code: z.string().min(1),
  basemap_code: z.string().min(1),
  version: z.string().min(1),
})
export const vectorPushBodySchema = z.strictObject({ target_code: z.string().min(1), vector_code: z.string().min(1) })
