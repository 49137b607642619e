import { z } from 'zod'
import { asListedSchema, codeSchema, MAX_LABEL_LENGTH, timestampSchema } from './common.js'
import { messageFields, sentence } from './messages.js'
import { postgisChoiceSchema, postgisOptionsSchema } from './postgis.js'
import { serviceHeadersSchema, serviceLayersSchema, serviceOptionsSchema } from './service.js'
import { warningsField } from './warning.js'

export const SOURCE_KINDS = ['basemap', 'vector', 'style', 'service', 'postgis'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

/** Treatment of a version that is found for the first time. */
export const PUBLISH_MODES = ['automatic', 'approval'] as const
const publishSchema = z
  .enum(PUBLISH_MODES)
  .describe('`approval`: a version that is found for the first time is held until an operator approves it')

/** Limits of `every_seconds`. */
const [LEAST_SECONDS, MOST_SECONDS] = [60, 86_400]
const MAX_CRON_LENGTH = 200
const MAX_ZONE_LENGTH = 64

export const scanScheduleSchema = z
  .union([
    z.strictObject({ every_seconds: z.int().min(LEAST_SECONDS).max(MOST_SECONDS) }),
    z.strictObject({
      cron: z
        .string()
        .min(1)
        .max(MAX_CRON_LENGTH)
        .describe('five fields: minute, hour, day, month and day of the week'),
      time_zone: z
        .string()
        .min(1)
        .max(MAX_ZONE_LENGTH)
        .optional()
        .describe('a name of the IANA database such as `Europe/Berlin`; default: `UTC`'),
    }),
  ])
  .describe('when the schedule scans the source; null: no schedule')
export type ScanSchedule = z.infer<typeof scanScheduleSchema>
const watchSchema = z
  .boolean()
  .describe('true: changes in the local folder start a scan, 2 s after the last change and at most every 10 s')

export const SCAN_REASONS = ['manual', 'schedule', 'watch', 'start'] as const
export type ScanReason = (typeof SCAN_REASONS)[number]
const nextScanSchema = timestampSchema.nullable().describe('next scan by the schedule; null: no scan is scheduled')

export const SCAN_STATUSES = ['running', 'succeeded', 'failed'] as const
export type ScanStatus = (typeof SCAN_STATUSES)[number]

/** The outcome of one scan, counted in versions, vectors or styles. */
export const scanSchema = z.object({
  id: z.uuid(),
  status: z.enum(SCAN_STATUSES),
  reason: z
    .enum(SCAN_REASONS)
    .describe('why the scan ran: a request, its schedule, a change in a watched folder, or a start of the gateway'),
  changed: z
    .array(z.string())
    .nullable()
    .describe(
      'the changed paths of a watched folder, below the source, if only these were scanned; null: everything was scanned',
    ),
  next_scan_at: nextScanSchema,
  started_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
  added: z.int().describe('seen for the first time'),
  updated: z.int().describe('changed, or found again after it was missing'),
  missing: z
    .int()
    .describe(
      'known items of this source that this scan did not find; they are unavailable, and every scan counts them until they are found again',
    ),
  message: z.string(),
  ...messageFields,
  warnings: z.int().describe('number of items that were left out or are doubtful; the first 1,000 are listed'),
  steps: z.int().describe('folders listed and files read so far'),
  cancelled: z.boolean().describe('an operator cancelled it; its status is then `failed`'),
})
export type Scan = z.infer<typeof scanSchema>

/** The expected result of a scan. */
export const scanWarningSchema = z.object({
  number: z.int().describe('counted from 1'),
  message: z.string(),
  ...messageFields,
})
export type ScanWarning = z.infer<typeof scanWarningSchema>

export const triedScanSchema = z.object({
  added: z.int(),
  updated: z.int(),
  missing: z.int(),
  found: z
    .array(z.string())
    .describe(
      'items that would be new, changed or available again: `code/version`, the path of a vector, or the code of a style; the first 1,000',
    ),
  lost: z.array(z.string()).describe('items that would become unavailable; the first 1,000'),
  warnings: z.int(),
  messages: z.array(z.string()).describe('items that would be left out or are doubtful; the first 1,000'),
  coded_messages: z
    .array(z.object({ message: z.string(), ...messageFields }))
    .describe('the same messages, each with its code and parameters'),
  layers: z
    .array(
      z.object({
        layer: z.string().describe('its name in the service; empty if the service has only one'),
        code: z.string().describe('of its basemap'),
        name: z.string().nullable(),
        preview: z
          .string()
          .nullable()
          .describe(
            'a small picture as an address `data:image/webp;base64,…`; null: its tiles are vectors, none came in time, or it is not among the first 24',
          ),
      }),
    )
    .optional()
    .describe('only of a service: its layers that would be taken, the first 1,000'),
  problem: z.string().nullable().describe('why the directory cannot be scanned; null: it can be scanned'),
  problem_code: messageFields.message_code,
  problem_params: messageFields.message_params,
})
export type TriedScan = z.infer<typeof triedScanSchema>

/** The parts of a database or of a service that are taken. */
const choiceFields = {
  ...postgisChoiceSchema.shape,
  layers: serviceLayersSchema.optional(),
  options: z.union([postgisOptionsSchema, serviceOptionsSchema]).optional().describe('of a database, or of a service'),
}

export const scanSourceSchema = z.object({
  code: z.string(),
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  path: z.string().describe('the directory or address; of a database its address without the password'),
  has_password: z.boolean().optional().describe('only of a database: true if a password is stored'),
  has_headers: z.boolean().optional().describe('only of a service: true if headers are stored for it'),
  ...choiceFields,
  enabled: z.boolean().describe('false: it is not scanned, and no item from it is served or listed'),
  publish: publishSchema,
  schedule: scanScheduleSchema.nullable(),
  next_scan_at: nextScanSchema,
  watch: watchSchema,
  watch_problem: z
    .string()
    .nullable()
    .describe(
      'why the folder cannot be watched now, so that it is scanned every minute; null: it is watched, or need not be',
    ),
  last_scan: scanSchema.nullable(),
  queued_at: timestampSchema.nullable().describe('since when a scan of it waits for its turn; null: no scan waits'),
})
export type ScanSource = z.infer<typeof scanSourceSchema>

/** The response to saving a source. */
export const savedScanSourceSchema = scanSourceSchema.extend(warningsField)

const pathSchema = z
  .string()
  .max(4096)
  .regex(/^(\/|s3:\/\/|https?:\/\/|postgres(ql)?:\/\/)[^\0]*$/, sentence('said.absolute_or_remote'))
  .describe('a directory, or `s3://bucket/prefix`, or an http(s) address; never with credentials in it')

export const scanSourceBodySchema = z.strictObject({
  code: codeSchema,
  kind: z.enum(SOURCE_KINDS),
  path: pathSchema.optional(),
  has_password: asListedSchema,
  has_headers: asListedSchema,
  name: z.string().min(1).max(MAX_LABEL_LENGTH).optional(),
  enabled: z.boolean().optional(),
  publish: publishSchema.optional(),
  schedule: scanScheduleSchema.nullable().optional().describe('`null`: none'),
  watch: watchSchema.optional().describe('not for object storage'),
  next_scan_at: asListedSchema,
  watch_problem: asListedSchema,
  last_scan: asListedSchema,
  queued_at: asListedSchema,
  url: z
    .string()
    .max(4096)
    .regex(/^[^\0\r\n]+$/, sentence('said.location_control'))
    .optional()
    .describe(
      'only for `service`: the address of its description, whose query is never returned; only for `postgis`: the address of a database, `postgres://role:password@host:port/name?sslmode=verify-full`. The password is never returned; ' +
        'an address without one keeps the stored password',
    ),
  headers: serviceHeadersSchema.optional(),
  ...choiceFields,
})
export type ScanSourceBody = z.infer<typeof scanSourceBodySchema>

/** A source that may be unregistered. */
export const triedSourceSchema = scanSourceBodySchema
  .pick({
    kind: true,
    path: true,
    url: true,
    schemas: true,
    tables: true,
    functions: true,
    options: true,
    layers: true,
    headers: true,
  })
  .extend({ code: codeSchema.optional() })

export const STORAGE_STATES = ['answers', 'missing', 'no_credentials', 'refuses', 'no_answer'] as const

/** The current state of a remote source's storage. */
export const sourceStorageSchema = z.object({
  endpoint: z.string().describe('the address of the request'),
  state: z
    .enum(STORAGE_STATES)
    .describe(
      '`missing`: the bucket or file does not exist; `no_credentials`: no credentials are set, and the message says where to set them; ' +
        '`refuses`: the credentials, or the rules for destinations, are not right',
    ),
  message: z.string().describe('the error message; empty if the storage responds'),
  ...messageFields,
  milliseconds: z.int().describe('time in ms until it responded, or until the request was given up'),
  queries: z
    .array(
      z.object({
        query: z.string().describe('its first 1,000 characters; values are parameters, which are not in it'),
        seconds: z.number().describe('time since its begin'),
        waits_for: z.string().nullable().describe('for example `Lock` or `ClientWrite`; null: for nothing'),
      }),
    )
    .optional()
    .describe('only of a database: the queries of the gateway that run there now, the longest first, at most 50'),
})
export type SourceStorage = z.infer<typeof sourceStorageSchema>
