import { z } from 'zod'
import { MAX_LABEL_LENGTH, timestampSchema } from './common.js'

export const SCOPES = ['read', 'slice', 'sign'] as const
export type Scope = (typeof SCOPES)[number]

/** The one entry of `basemap_codes` or `vector_codes` that grants all, present and future. */
export const GRANT_ALL = '*'

/** Limit: grants of one kind in one token; each costs memory in every edge process. */
export const MAX_GRANTS = 10_000

/** ISO 8601, to the second or finer, to the minute, or a bare date, which is its midnight; without a zone it is UTC. */
export const instantSchema = z.union(
  [
    z.iso.datetime({ offset: true, local: true }),
    z.iso.datetime({ offset: true, local: true, precision: -1 }),
    z.iso.date(),
  ],
  { error: 'must be an ISO 8601 date or date-time' },
)

/** An entry of a grant list: a code, a relative path or a file name. */
const grantSchema = z.string().min(1).max(4096)

const nameSchema = z.string().trim().min(1).max(MAX_LABEL_LENGTH)
const expirySchema = z.union([instantSchema, z.literal(0)], { error: 'must be an ISO 8601 date or date-time, or 0' })

/** Limit: origins, and networks, of one token. */
const MAX_LIMITS = 100

const originSchema = z
  .string()
  .max(512)
  .refine(isOrigin, { error: 'must be an origin as browsers send it, https://maps.example.com' })
const networkSchema = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
  error: 'must be an IP address or a CIDR range',
})

/** The schemes of the web have one way to write an origin; those of apps (`capacitor://localhost`) are taken as they are. */
function isOrigin(text: string): boolean {
  if (/^https?:/i.test(text)) return URL.canParse(text) && new URL(text).origin === text
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(text)
}

/** The fields of which each has a default where a token is issued, and stays as it is where a token is changed. */
const optionalFields = {
  basemap_codes: z.array(grantSchema).max(MAX_GRANTS).optional(),
  vector_codes: z.array(grantSchema).max(MAX_GRANTS).optional(),
  allowed_origins: z
    .array(originSchema)
    .max(MAX_LIMITS)
    .optional()
    .describe('the `Origin` of a request, else the origin of its `Referer`, must be one of them (403); empty: any'),
  allowed_networks: z
    .array(networkSchema)
    .max(MAX_LIMITS)
    .optional()
    .describe(
      'addresses and CIDR ranges; the address of the client, by TRUSTED_PROXIES, must be in one of them (403); empty: any',
    ),
}

export const tokenBodySchema = z.strictObject({
  name: nameSchema,
  ...optionalFields,
  scopes: z.array(z.enum(SCOPES)).min(1).optional().describe('default: ["read"]'),
  expires_at: expirySchema
    .optional()
    .describe('without a zone it is UTC; omitted or null: now + TOKEN_DEFAULT_TTL; 0: never'),
})
export type TokenBody = z.infer<typeof tokenBodySchema>

export const tokenPatchSchema = z
  .strictObject({
    name: nameSchema.optional(),
    ...optionalFields,
    scopes: z.array(z.enum(SCOPES)).min(1).optional(),
    expires_at: expirySchema.optional().describe('without a zone it is UTC; 0: never'),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), { error: 'names nothing to change' })
export type TokenPatch = z.infer<typeof tokenPatchSchema>

export const tokenSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string().describe('the first 12 characters of the token'),
  basemap_codes: z.array(z.string()),
  vector_codes: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  allowed_origins: z.array(z.string()),
  allowed_networks: z.array(z.string()),
  expires_at: timestampSchema.nullable(),
  disabled_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  first_used_at: timestampSchema.nullable().describe('to within half a minute; null: never, or before this was noted'),
  last_used_at: timestampSchema.nullable(),
  previous_prefix: z
    .string()
    .nullable()
    .describe('of the secret before the last rotation; null where that had no grace'),
  previous_expires_at: timestampSchema
    .nullable()
    .describe('when that secret ends or has ended, if the token does not before'),
})
export type Token = z.infer<typeof tokenSchema>

export const issuedTokenSchema = tokenSchema.extend({
  token: z.string().describe('the plaintext; answered this once and stored nowhere'),
})
export type IssuedToken = z.infer<typeof issuedTokenSchema>

/** Limit: 30 days. */
const MAX_GRACE_SECONDS = 2_592_000

export const rotateBodySchema = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .optional()
    .describe('how long the secret of now is honoured beside the new one; default: 0'),
})
