import type { Token, TokenPatch } from '@gateway/contracts/token.js'
import { insertAudit } from '@gateway/store/audit.js'
import { type TokenSettings, updateToken as updateRecord } from '@gateway/store/tokens.js'
import { differences } from '../platform/audit/differences.js'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { changesOf, changeToken, type Outcome, type TokenWork } from './change.js'
import { expiryOf, rateLimitOf, unique } from './issue.js'

/** Changes the given fields. If they are unchanged, nothing is recorded. */
export function updateToken(
  ctx: ControlContext,
  edges: KnownEdges,
  id: string,
  patch: TokenPatch,
  admin: AdminIdentity,
): Promise<Outcome<Token>> {
  return changeToken(ctx, edges, id, updating(ctx, patch, admin))
}

export function updating(ctx: Pick<ControlContext, 'now'>, patch: TokenPatch, admin: AdminIdentity): TokenWork<Token> {
  return async (tx, token) => {
    const expiry =
      patch.expires_at === undefined
        ? ({ ok: true, at: dateOf(token.expires_at) } as const)
        : expiryOf(patch.expires_at, ctx.now(), 0)
    if (!expiry.ok) return expiry
    const settings: TokenSettings = {
      name: patch.name ?? token.name,
      basemapCodes: unique(patch.basemap_codes ?? token.basemap_codes),
      vectorCodes: unique(patch.vector_codes ?? token.vector_codes),
      layerCodes: unique(patch.layer_codes ?? token.layer_codes),
      scopes: unique(patch.scopes ?? token.scopes),
      expiresAt: expiry.at,
      allowedOrigins: unique(patch.allowed_origins ?? token.allowed_origins),
      allowedNetworks: unique(patch.allowed_networks ?? token.allowed_networks),
      rateLimit: patch.rate_limit === undefined ? token.rate_limit : rateLimitOf(patch.rate_limit),
      bounds: patch.bounds === undefined ? token.bounds : patch.bounds,
    }
    const updated = await updateRecord(tx, token.id, settings)
    const changed = differences(token, updated)
    if (changed === null) return { ok: true, answer: updated, changes: [] }
    const detail = { name: updated.name, prefix: updated.prefix, ...changed }
    await insertAudit(tx, {
      ...admin,
      action: 'token.update',
      subject: token.id,
      detail,
    })
    return { ok: true, answer: updated, changes: changesOf(token) }
  }
}

function dateOf(timestamp: string | null): Date | null {
  return timestamp === null ? null : new Date(timestamp)
}
