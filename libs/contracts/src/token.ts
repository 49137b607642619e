import { z } from 'zod'
import { areaSchema, boundsSchema } from './basemap.js'
import { MAX_LABEL_LENGTH, timestampSchema } from './common.js'
import { instantSchema } from './instant.js'
import { sentence } from './messages.js'
import { rateLimitBodySchema, rateLimitSchema } from './rate-limit.js'
import { REFUSAL_REASONS } from './usage.js'
import { warningsField } from './warning.js'

export const SCOPES = ['read', 'slice', 'sign'] as const
export type Scope = (typeof SCOPES)[number]

/** `service`: for a client; `preview`: for a link by which people without an account see one map. */
export const TOKEN_KINDS = ['service', 'preview'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

/** The single entry of `basemap_codes`, `vector_codes` or `layer_codes` that grants all, present and future. */
export const GRANT_ALL = '*'

/** Maximum number of grants of one kind in one token; each costs memory in every edge process. */
export const MAX_GRANTS = 10_000

/** An entry of a grant list: a code, a relative path or a file name. */
const grantSchema = z.string().min(1).max(4096)

const nameSchema = z.string().trim().min(1).max(MAX_LABEL_LENGTH)
const expirySchema = z.union([instantSchema, z.literal(0)], { error: sentence('said.instant_or_0') })

/** Maximum number of origins, and of networks, of one token. */
const MAX_LIMITS = 100

const originSchema = z
  .string()
  .max(512)
  .refine(isOrigin, { error: sentence('said.origin') })
const networkSchema = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
  error: sentence('said.network'),
})

/**
 * Web schemes have one canonical form of an origin. Those of apps (`capacitor://localhost`) are accepted unchanged. A `*` is refused: it
 * would look like a pattern, and match nothing.
 */
function isOrigin(text: string): boolean {
  if (text.includes('*')) return false
  if (/^https?:/i.test(text)) return URL.canParse(text) && new URL(text).origin === text
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(text)
}

/** Fields that have a default when a token is issued, and stay unchanged if omitted when it is changed. */
const optionalFields = {
  basemap_codes: z.array(grantSchema).max(MAX_GRANTS).optional(),
  vector_codes: z.array(grantSchema).max(MAX_GRANTS).optional(),
  layer_codes: z
    .array(grantSchema)
    .max(MAX_GRANTS)
    .optional()
    .describe(
      'with the scope `slice`: the layers that the token may submit to, whose jobs it sees and whose sources it lists; matched like ' +
        '`basemap_codes`. Default for a new token: ["*"]',
    ),
  allowed_origins: z
    .array(originSchema)
    .max(MAX_LIMITS)
    .optional()
    .describe('the `Origin` of a request, or else the origin of its `Referer`, must be one of them (403); empty: any'),
  allowed_networks: z
    .array(networkSchema)
    .max(MAX_LIMITS)
    .optional()
    .describe(
      'addresses and CIDR ranges; the address of the client, as TRUSTED_PROXIES determines it, must be in one of them (403); empty: any',
    ),
  rate_limit: rateLimitBodySchema
    .nullable()
    .optional()
    .describe(
      'maximum number of requests a second and maximum number at once, over all edges, within 20 % (429 with Retry-After); default of `burst`: ' +
        'the requests of one second; null: unlimited',
    ),
  bounds: areaSchema
    .nullable()
    .optional()
    .describe(
      'west, south, east, north in degrees of WGS 84: tiles that lie completely outside return 403, and so do whole archives and vectors; ' +
        'null: no limit',
    ),
}

export const tokenBodySchema = z.strictObject({
  name: nameSchema,
  ...optionalFields,
  scopes: z.array(z.enum(SCOPES)).min(1).optional().describe('default: ["read"]'),
  expires_at: expirySchema
    .optional()
    .describe('UTC if it has no zone; omitted or null: now + TOKEN_DEFAULT_TTL; 0: never'),
})
export type TokenBody = z.infer<typeof tokenBodySchema>

export const tokenPatchSchema = z
  .strictObject({
    name: nameSchema.optional(),
    ...optionalFields,
    scopes: z.array(z.enum(SCOPES)).min(1).optional(),
    expires_at: expirySchema.optional().describe('UTC if it has no zone; 0: never'),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: sentence('said.nothing_to_change'),
  })
export type TokenPatch = z.infer<typeof tokenPatchSchema>

/** Parameters of changing many tokens: those of `extend` and `expire`, and those of `grant` and `withdraw`. */
export const bulkTokenParamsSchema = z.strictObject({
  expires_at: tokenPatchSchema.shape.expires_at,
  basemap_codes: z.array(grantSchema).min(1).max(MAX_GRANTS).optional(),
  vector_codes: z.array(grantSchema).min(1).max(MAX_GRANTS).optional(),
  layer_codes: z.array(grantSchema).min(1).max(MAX_GRANTS).optional(),
})
export type BulkTokenParams = z.infer<typeof bulkTokenParamsSchema>

export const tokenSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string().describe('the first 12 characters of the token'),
  basemap_codes: z.array(z.string()),
  vector_codes: z.array(z.string()),
  layer_codes: z.array(z.string()).describe('the layers to which the scope `slice` applies'),
  scopes: z.array(z.enum(SCOPES)),
  allowed_origins: z.array(z.string()),
  allowed_networks: z.array(z.string()),
  rate_limit: rateLimitSchema.nullable(),
  bounds: boundsSchema.nullable().describe('the area that the token may read; null: no limit'),
  expires_at: timestampSchema.nullable(),
  disabled_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  first_used_at: timestampSchema
    .nullable()
    .describe('accurate to half a minute; null: never, or before the gateway recorded it'),
  first_used_from: z
    .string()
    .nullable()
    .describe(
      'the client address of a request at most half a minute after that, as TRUSTED_PROXIES determines it; null: never, not known, or ' +
        'TOKEN_ADDRESSES is off',
    ),
  last_used_at: timestampSchema.nullable(),
  last_used_from: z
    .string()
    .nullable()
    .describe(
      'the client address of a request at most two minutes before that, as TRUSTED_PROXIES determines it; null: never, not known, or ' +
        'TOKEN_ADDRESSES is off',
    ),
  last_refused_at: timestampSchema
    .nullable()
    .describe(
      'when an edge last refused a request with it, accurate to half a minute; null: never, or before the gateway recorded it',
    ),
  refused_by: z
    .partialRecord(z.enum(REFUSAL_REASONS), z.object({ requests: z.int(), last_at: timestampSchema }))
    .describe(
      'number of refused requests of edges by reason, since the gateway records it, and the time of the last one; an absent reason has not ' +
        'occurred',
    ),
  previous_prefix: z
    .string()
    .nullable()
    .describe('prefix of the secret before the last rotation; null if that secret had no grace'),
  previous_expires_at: timestampSchema
    .nullable()
    .describe('when that secret ends or has ended, unless the token ends earlier'),
})
export type Token = z.infer<typeof tokenSchema>
/** The fields of a token that decisions need. Its refusal counts are not read for each request. */
export type DecidedToken = Omit<Token, 'last_refused_at' | 'refused_by'> & {
  /** true for a preview of the console; absent in a catalog that an earlier version kept */
  readonly preview?: boolean
}

export const issuedTokenSchema = tokenSchema.extend({
  token: z.string().describe('the plaintext, which is returned only once and stored nowhere'),
  ...warningsField,
})
export type IssuedToken = z.infer<typeof issuedTokenSchema>

/** Maximum: 30 days. */
const MAX_GRACE_SECONDS = 2_592_000

export const rotateBodySchema = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .optional()
    .describe('time in seconds for which the present secret is still accepted next to the new one; default: 0'),
})

/** Maximum: 30 days. A client that needs longer gets its own token. */
const MAX_LINK_SECONDS = 2_592_000
const DAY_SECONDS = 86_400

export const previewLinkBodySchema = z.strictObject({
  basemap_code: z.string().min(1),
  version: z
    .string()
    .min(1)
    .optional()
    .describe('the version that the page shows; omitted: the default version at that time'),
  expires_in_seconds: z
    .int()
    .min(60)
    .max(MAX_LINK_SECONDS)
    .default(7 * DAY_SECONDS)
    .describe('lifetime of the link in seconds; default: a week'),
})

export const previewLinkSchema = z.object({
  id: z.uuid().describe('id of the token in the link; disabling the token ends the link'),
  url: z.string().describe('the address of the page with the map, which is returned only once and stored nowhere'),
  expires_at: timestampSchema,
})
export type PreviewLink = z.infer<typeof previewLinkSchema>
