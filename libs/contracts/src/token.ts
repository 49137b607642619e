import { z } from 'zod'
import { MAX_LABEL_LENGTH, timestampSchema } from './common.js'

export const SCOPES = ['read', 'slice'] as const
export type Scope = (typeof SCOPES)[number]

/** The one entry of `basemap_codes` or `vector_codes` that grants all, present and future. */
export const GRANT_ALL = '*'

/** Limit: grants of one kind in one token; each costs memory in every edge process. */
export const MAX_GRANTS = 10_000

/** ISO 8601, to the second or finer, to the minute, or a bare date, which is its midnight; without a zone it is UTC. */
const isoInstantSchema = z.union([
  z.iso.datetime({ offset: true, local: true }),
  z.iso.datetime({ offset: true, local: true, precision: -1 }),
  z.iso.date(),
])

/** An entry of a grant list: a code, a relative path or a file name. */
const grantSchema = z.string().min(1).max(4096)

export const tokenBodySchema = z.strictObject({
  name: z.string().trim().min(1).max(MAX_LABEL_LENGTH),
  basemap_codes: z.array(grantSchema).max(MAX_GRANTS).optional(),
  vector_codes: z.array(grantSchema).max(MAX_GRANTS).optional(),
  scopes: z.array(z.enum(SCOPES)).min(1).optional().describe('default: ["read"]'),
  expires_at: z
    .union([isoInstantSchema, z.literal(0)], { error: 'must be an ISO 8601 date or date-time, or 0' })
    .optional()
    .describe('without a zone it is UTC; omitted or null: now + TOKEN_DEFAULT_TTL; 0: never'),
})
export type TokenBody = z.infer<typeof tokenBodySchema>

export const tokenSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string().describe('the first 12 characters of the token'),
  basemap_codes: z.array(z.string()),
  vector_codes: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  expires_at: timestampSchema.nullable(),
  disabled_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  last_used_at: timestampSchema.nullable(),
})
export type Token = z.infer<typeof tokenSchema>

export const issuedTokenSchema = tokenSchema.extend({
  token: z.string().describe('the plaintext; answered this once and stored nowhere'),
})
export type IssuedToken = z.infer<typeof issuedTokenSchema>
