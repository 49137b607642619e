import { z } from 'zod'
import { timestampSchema } from './common.js'
import { messageParamsSchema } from './messages.js'
import { issuedTokenSchema, tokenSchema } from './token.js'
import { trafficCountersSchema } from './traffic.js'
import { warningsField } from './warning.js'

const bytes = z.number().min(0)

/** The cache on disk of remote tiles, shared by the processes of a host. Counts are those of one process since its start. */
export const remoteCacheSchema = z.object({
  kept_bytes: bytes.describe('size of the directory when space was last freed'),
  capacity_bytes: bytes.describe('TILE_CACHE_BYTES'),
  saved_bytes: bytes.describe('bytes of tiles that were read from it instead of from their storage'),
  fetched_bytes: bytes.describe('bytes that came from the storage'),
  failing: z.boolean().describe('the disk refuses writes, and tiles are served without it'),
})
export type RemoteCache = z.infer<typeof remoteCacheSchema>

/** One edge process, in the form of its announcements on the bus. */
export const edgePresenceSchema = z.object({
  id: z.uuid().describe('new for every process start'),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  started_at: timestampSchema,
  seen_at: timestampSchema,
  applied_revision: z.int().describe('the revision of the change log that this process has applied'),
  applied_mark: z
    .uuid()
    .optional()
    .describe('identifies that state of the log: numbers repeat after a restore, marks do not'),
  path: z
    .enum(['bus', 'store'])
    .optional()
    .describe('only for a process that confirmed a change: through the bus, or through the store, which it polls'),
  traffic: trafficCountersSchema
    .extend({
      remote_cache: remoteCacheSchema.optional().describe('absent: it has not read from remote versions yet'),
      memory_bytes: bytes.optional().describe('resident memory of the process'),
    })
    .optional(),
})
export type EdgePresence = z.infer<typeof edgePresenceSchema>

/** The edge processes that have confirmed a change, and those that have not. */
export const acknowledgementFields = {
  confirmed: z
    .array(edgePresenceSchema)
    .describe('have applied the change: they refuse the token, or no longer serve the map'),
  pending: z
    .array(edgePresenceSchema)
    .describe(
      'may not have applied it yet: they have not confirmed it, or they have been silent for less than TOKEN_OFFLINE_SECONDS without a regular ' +
        'stop (`seen_at` has the last sign of life)',
    ),
} as const

/** The response to disabling or changing a token: the record, and the edge processes that confirmed. */
export const confirmedTokenSchema = tokenSchema.extend(acknowledgementFields)
/** The response to a change, with warnings. */
export const changedTokenSchema = confirmedTokenSchema.extend(warningsField)
/** The response to rotating a token. */
export const rotatedTokenSchema = issuedTokenSchema.extend(acknowledgementFields)
export type DisabledToken = z.infer<typeof confirmedTokenSchema>

/** The response to one action on many items. */
export const bulkResultSchema = z.object({
  matched: z.int().min(0).describe('number of distinct items that were named, or that the filter matches'),
  done: z.int().min(0),
  failed: z
    .array(
      z.object({
        id: z.string().describe('as in `ids`'),
        code: z.string().describe('stable code of the refusal, as `x-refusal` carries it'),
        error: z.string().describe('why this item was not changed'),
        details: z
          .array(z.object({ code: z.string(), params: messageParamsSchema }))
          .describe('the messages in `error`, as `x-refusal-details` carries them'),
      }),
    )
    .describe('items that were not changed'),
  ...warningsField,
})
