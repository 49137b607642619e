import { z } from 'zod'
import { timestampSchema } from './common.js'
import { tokenSchema } from './token.js'
import { trafficCountersSchema } from './traffic.js'

/** One edge process, as it announces itself on the bus. */
export const edgePresenceSchema = z.object({
  id: z.uuid().describe('new for every process start'),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  started_at: timestampSchema,
  seen_at: timestampSchema,
  applied_revision: z.int().describe('the revision of the change log that this process has applied'),
  traffic: trafficCountersSchema.optional(),
})
export type EdgePresence = z.infer<typeof edgePresenceSchema>

/** The answer of a disable call: the record, and which edge processes confirmed that they refuse the token. */
export const disabledTokenSchema = tokenSchema.extend({
  confirmed: z.array(edgePresenceSchema),
  pending: z.array(edgePresenceSchema),
})
export type DisabledToken = z.infer<typeof disabledTokenSchema>
