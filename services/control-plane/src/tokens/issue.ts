import { createToken, tokenDigest, tokenPrefix } from '@gateway/access/token-format.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'
import { insertAudit } from '@gateway/store/audit.js'
import { insertToken } from '@gateway/store/tokens.js'
import { type ControlContext, commitAndPublish } from '../context.js'
import type { AdminIdentity } from '../http/app-type.js'

export type Issued = { readonly ok: true; readonly issued: IssuedToken } | Refusal

/**
 * Issues a token. Its plaintext is in the answer and nowhere else. No edge needs to hear of it: nobody can have asked for a token that
 * did not exist, so that none holds a refusal of it.
 */
export async function issueToken(ctx: ControlContext, body: TokenBody, admin: AdminIdentity): Promise<Issued> {
  const expiry = expiryOf(body.expires_at, ctx.now(), ctx.settings.tokenDefaultTtlSeconds)
  if (!expiry.ok) return expiry
  const plaintext = createToken()
  const { result } = await commitAndPublish(ctx, async (tx) => {
    const token = await insertToken(tx, {
      name: body.name,
      prefix: tokenPrefix(plaintext),
      digest: tokenDigest(plaintext),
      basemapCodes: unique(body.basemap_codes ?? []),
      vectorCodes: unique(body.vector_codes ?? []),
      scopes: unique(body.scopes ?? ['read']),
      expiresAt: expiry.at,
    })
    const { id, name, prefix, scopes, basemap_codes, vector_codes, expires_at } = token
    const detail = { name, prefix, scopes, expires_at, basemaps: basemap_codes.length, vectors: vector_codes.length }
    await insertAudit(tx, { ...admin, action: 'token.issue', subject: id, detail })
    return { result: token, changes: [] }
  })
  return { ok: true, issued: { ...result, token: plaintext } }
}

type Expiry = { readonly ok: true; readonly at: Date | null } | Refusal

/** Omitted: the default lifetime from now. 0: never. A moment in the past is a token that is expired at once. */
export function expiryOf(expiresAt: TokenBody['expires_at'], nowMs: number, defaultTtlSeconds: number): Expiry {
  if (expiresAt === 0) return { ok: true, at: null }
  if (expiresAt === undefined) return { ok: true, at: new Date(nowMs + defaultTtlSeconds * 1000) }
  const at = new Date(withZone(expiresAt))
  // Offsets can push a moment into years that neither ISO 8601's four digits nor the store can say.
  const year = at.getUTCFullYear()
  if (Number.isNaN(year) || year < 1 || year > 9999) {
    return refuse('invalid_parameters', 'body.expires_at: must be within the years 0001 to 9999')
  }
  return { ok: true, at }
}

/** A date-time that names no zone is UTC, whatever zone this machine lives in; JavaScript reads bare dates so by itself. */
function withZone(instant: string): string {
  return instant.includes('T') && !/(Z|[+-]\d\d:?\d\d)$/.test(instant) ? `${instant}Z` : instant
}

function unique<T>(list: readonly T[]): T[] {
  return [...new Set(list)]
}
