import { z } from 'zod'
import { asListedSchema, codeSchema, MAX_LABEL_LENGTH } from './common.js'
import { messageFields, sentence } from './messages.js'
import { sentRequestSchema } from './push.js'
import { warningsField } from './warning.js'

export const TARGET_KINDS = ['http', 'directory', 'bucket', 'purge'] as const
export const TARGET_MODES = ['notify', 'upload'] as const

export const targetSchema = z.object({
  code: z.string(),
  name: z.string(),
  kind: z.enum(TARGET_KINDS),
  url: z.string().nullable(),
  path: z.string().nullable(),
  mode: z.enum(TARGET_MODES),
  enabled: z.boolean(),
  has_secret: z.boolean(),
})
export type Target = z.infer<typeof targetSchema>

/** The response to saving a target. */
export const savedTargetSchema = targetSchema.extend(warningsField)

export const targetBodySchema = z.strictObject({
  code: codeSchema,
  name: z.string().min(1).max(MAX_LABEL_LENGTH).optional(),
  kind: z.enum(TARGET_KINDS),
  url: z
    .url({ protocol: /^(https?|s3)$/ })
    .max(4096)
    .optional()
    .describe('kind `http`: an http(s) address; kind `bucket`: `s3://bucket/prefix`'),
  path: z
    .string()
    .max(4096)
    .regex(/^\/[^\0]*$/, sentence('said.absolute'))
    .optional(),
  mode: z.enum(TARGET_MODES).optional(),
  enabled: z.boolean().optional(),
  secret: z
    .string()
    .max(1024)
    .optional()
    .describe('write-only; omitted: the present secret stays; empty: it is removed'),
  has_secret: asListedSchema,
})
export type TargetBody = z.infer<typeof targetBodySchema>

/** Extension: the outcome of a target's test, which makes one attempt. */
export const targetTrialSchema = z.object({
  delivered: z.boolean(),
  status: z
    .int()
    .nullable()
    .describe('the HTTP status of the response; null: no response came, or the target is a directory'),
  message: z.string(),
  ...messageFields,
  answer: z.string().describe('the first part of the response of the receiver'),
  duration_ms: z.int(),
  request: sentRequestSchema
    .nullable()
    .describe('the request that was sent; null: nothing was sent, or the target is a directory'),
})
export type TargetTrial = z.infer<typeof targetTrialSchema>
