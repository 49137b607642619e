import { z } from 'zod'
import { timestampSchema } from './common.js'
import { NOTIFICATION_KINDS } from './without-schemas.js'

const kinds = z
  .array(z.enum(NOTIFICATION_KINDS))
  .min(1)
  .max(NOTIFICATION_KINDS.length)
  .describe('the kinds of items that it reports; `unavailable`: versions and vectors whose files are gone')

export const notificationRuleSchema = z.object({
  id: z.uuid(),
  email: z.string().nullable().describe('e-mail address of the recipient; null: the recipient is a target'),
  target_code: z.string().nullable().describe('code of the target; null: the recipient is an e-mail address'),
  kinds,
  enabled: z.boolean(),
  created_at: timestampSchema,
})
export type NotificationRule = z.infer<typeof notificationRuleSchema>

/** Limit of RFC 5321, 4.5.3.1.3. */
const MAX_ADDRESS = 254

export const notificationRuleBodySchema = z
  .strictObject({
    id: z.uuid().optional().describe('id of the rule to replace; omitted: a new rule'),
    email: z.email().max(MAX_ADDRESS).optional(),
    target_code: z.string().min(1).optional().describe('a target of kind `http`'),
    kinds,
    enabled: z.boolean().default(true),
  })
  .refine(({ email, target_code: target }) => (email === undefined) !== (target === undefined), {
    message: 'needs either email or target_code',
  })
