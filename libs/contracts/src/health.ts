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
