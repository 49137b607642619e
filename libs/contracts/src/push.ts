import { z } from 'zod'
import { boundsSchema } from './basemap.js'
import { timestampSchema } from './common.js'
import { messageFields } from './messages.js'

export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

const recordSchema = z.object({
  id: z.uuid(),
  target_code: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  message: z.string(),
  ...messageFields,
  next_attempt_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  acknowledged_at: timestampSchema.nullable().describe('when somebody acknowledged the failure; null: nobody has'),
})

export const pushRecordSchema = recordSchema.extend({
  basemap_code: z.string(),
  version: z.string(),
  export_id: z.uuid().nullable().describe('the export whose archive is pushed; null: the version itself is pushed'),
  export: z
    .object({
      bounds: boundsSchema.nullable().describe('null: the whole version'),
      zoom_min: z.int(),
      zoom_max: z.int(),
    })
    .nullable()
    .describe('the content of that archive; null: no export is pushed, or it was removed'),
})
export type PushRecord = z.infer<typeof pushRecordSchema>

export const vectorPushRecordSchema = recordSchema.extend({ vector_code: z.string() })
export type VectorPushRecord = z.infer<typeof vectorPushRecordSchema>

/** Extension: a purge message to a cache in front of the gateway. */
export const purgeRecordSchema = recordSchema.extend({
  basemap_code: z.string(),
  version: z.string().nullable().describe('the version that has changed; null: the basemap itself has changed'),
})
export type PurgeRecord = z.infer<typeof purgeRecordSchema>

/** Extension: a message to a target about an event. */
export const eventRecordSchema = recordSchema.extend({
  event: z.string().describe('such as `basemap.version.approved`'),
  basemap_code: z.string(),
  version: z.string().nullable(),
})
export type EventRecord = z.infer<typeof eventRecordSchema>

/** Extension: a message to a person about items that need attention. */
export const notificationRecordSchema = recordSchema.omit({ target_code: true }).extend({
  target_code: z.string().nullable(),
  email: z.string().nullable(),
  event: z
    .string()
    .describe('`attention.` followed by the kind of item, such as `attention.push_failed`; or `attention.test`'),
  subject: z.string(),
})
export type NotificationRecord = z.infer<typeof notificationRecordSchema>

/** Extension: the completion callback of a slice job, which is a delivery like any other. */
export const callbackRecordSchema = recordSchema.omit({ target_code: true }).extend({
  job_id: z.uuid().describe('the slice job that ended'),
  callback_url: z.string().describe('only the role `admin` sees its query and user'),
})
export type CallbackRecord = z.infer<typeof callbackRecordSchema>

export const ATTEMPT_OUTCOMES = ['succeeded', 'failed', 'interrupted'] as const

/** Extension: a request as it was sent to a receiver, for the search for faults. */
export const sentRequestSchema = z.object({
  method: z.literal('POST'),
  url: z.string(),
  headers: z.record(z.string(), z.string()).describe('by their names in lower case; signatures are hidden'),
  body: z.string().describe('its first part; for an upload the first part of the event'),
})
export type SentRequest = z.infer<typeof sentRequestSchema>

/** Extension: one attempt at a delivery, in the `attempt_log` of a record's detail. */
export const deliveryAttemptSchema = z.object({
  started_at: timestampSchema,
  duration_ms: z.int(),
  outcome: z
    .enum(ATTEMPT_OUTCOMES)
    .describe('interrupted: the control plane stopped or died; such an attempt does not count'),
  http_status: z.int().nullable(),
  message: z.string(),
  ...messageFields,
  answer: z.string().describe('the first part of the response of the receiver'),
  request: sentRequestSchema
    .nullable()
    .describe(
      'the request that was sent; null: the target is a directory, or the request went to the callback of a slice job and the reader does not ' +
        'have the role `admin`',
    ),
})
export type DeliveryAttempt = z.infer<typeof deliveryAttemptSchema>

export const pushBodySchema = z.strictObject({
  target_code: z.string().min(1),
  basemap_code: z.string().min(1),
  version: z.string().min(1),
})
export const vectorPushBodySchema = z.strictObject({ target_code: z.string().min(1), vector_code: z.string().min(1) })
