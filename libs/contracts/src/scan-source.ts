import { z } from 'zod'
import { codeSchema, MAX_LABEL_LENGTH, timestampSchema } from './common.js'

export const SOURCE_KINDS = ['basemap', 'vector'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

export const SCAN_STATUSES = ['running', 'succeeded', 'failed'] as const
export type ScanStatus = (typeof SCAN_STATUSES)[number]

/** The outcome of one scan, counted in versions or vectors. */
export const scanSchema = z.object({
  status: z.enum(SCAN_STATUSES),
  started_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
  added: z.int().describe('seen for the first time'),
  updated: z.int().describe('changed, or found again after it was missing'),
  missing: z
    .int()
    .describe(
      'known of this source and not found by this scan, as unavailable; counted by every scan until it is found again',
    ),
  message: z.string(),
})
export type Scan = z.infer<typeof scanSchema>

export const scanSourceSchema = z.object({
  code: z.string(),
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  path: z.string(),
  enabled: z.boolean().describe('false: it is not scanned, and nothing that was found in it is served or listed'),
  last_scan: scanSchema.nullable(),
})
export type ScanSource = z.infer<typeof scanSourceSchema>

export const scanSourceBodySchema = z.object({
  code: codeSchema,
  kind: z.enum(SOURCE_KINDS),
  path: z
    .string()
    .max(4096)
    .regex(/^\/[^\0]*$/, 'must be an absolute path'),
  name: z.string().min(1).max(MAX_LABEL_LENGTH).optional(),
  enabled: z.boolean().optional(),
})
export type ScanSourceBody = z.infer<typeof scanSourceBodySchema>
