import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { instantMs } from '@gateway/contracts/instant.js'
import { coded } from '@gateway/contracts/messages.js'
import { type RateLimit, type RateLimitBody, withBurst } from '@gateway/contracts/rate-limit.js'
import { GRANT_ALL, type IssuedToken, type TokenBody } from '@gateway/contracts/token.js'
import { withWarnings } from '@gateway/contracts/warning.js'
import { createToken, tokenDigest, tokenPrefix } from '@gateway/core/access/token-format.js'
import { insertAudit } from '@gateway/store/audit.js'
import { insertToken } from '@gateway/store/tokens.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { tokenWarnings } from './warnings.js'

export type Issued = { readonly ok: true; readonly issued: IssuedToken } | Refusal

/**
 * Issues a token. Only the response contains its plaintext. The issue is in the change log, so that a store in which it happened has
 * another history than one that was restored from an earlier backup. Edges that know the token must detect that.
 */
export async function issueToken(ctx: ControlContext, body: TokenBody, admin: AdminIdentity): Promise<Issued> {
  const expiry = expiryOf(body.expires_at, ctx.now(), ctx.settings.tokenDefaultTtlSeconds)
  if (!expiry.ok) return expiry
  const plaintext = createToken()
  const digest = tokenDigest(plaintext)
  const { result } = await ctx.together.commit(digest.toString('hex'), async (tx) => {
    const token = await insertToken(tx, {
      name: body.name,
      prefix: tokenPrefix(plaintext),
      digest,
      basemapCodes: unique(body.basemap_codes ?? []),
      vectorCodes: unique(body.vector_codes ?? []),
      layerCodes: unique(body.layer_codes ?? [GRANT_ALL]),
      scopes: unique(body.scopes ?? ['read']),
      expiresAt: expiry.at,
      allowedOrigins: unique(body.allowed_origins ?? []),
      allowedNetworks: unique(body.allowed_networks ?? []),
      rateLimit: rateLimitOf(body.rate_limit ?? null),
      bounds: body.bounds ?? null,
    })
    const { id, name, prefix, scopes, basemap_codes, vector_codes, layer_codes, expires_at, bounds } = token
    const counts = {
      basemaps: basemap_codes.length,
      vectors: vector_codes.length,
      layers: layer_codes.length,
    }
    const detail = {
      name,
      prefix,
      scopes,
      expires_at,
      ...counts,
      ...(bounds !== null && { bounds }),
    }
    await insertAudit(tx, {
      ...admin,
      action: 'token.issue',
      subject: id,
      detail,
    })
    return {
      result: token,
      changes: [{ kind: 'token', key: digest.toString('hex') }],
    }
  })
  // An omitted list grants nothing, like an empty one.
  const given = { ...body, basemap_codes: body.basemap_codes ?? [] }
  const warnings = await tokenWarnings(ctx, result, given)
  return {
    ok: true,
    issued: withWarnings({ ...result, token: plaintext }, warnings),
  }
}

type Expiry = { readonly ok: true; readonly at: Date | null } | Refusal

/** Computes the expiry. Omitted: the default lifetime from now. 0: never. A time in the past gives a token that is expired at once. */
export function expiryOf(expiresAt: TokenBody['expires_at'], nowMs: number, defaultTtlSeconds: number): Expiry {
  if (expiresAt === 0) return { ok: true, at: null }
  if (expiresAt === undefined) return { ok: true, at: new Date(nowMs + defaultTtlSeconds * 1000) }
  const at = instantMs(expiresAt)
  if (at === null) return refuse('invalid_parameters', coded('expires_years'))
  return { ok: true, at: new Date(at) }
}

export function rateLimitOf(body: RateLimitBody | null): RateLimit | null {
  return body === null ? null : withBurst(body)
}

export function unique<T>(list: readonly T[]): T[] {
  return [...new Set(list)]
}
