import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { createToken, tokenDigest, tokenPrefix } from '@gateway/core/access/token-format.js'
import { insertAudit } from '@gateway/store/audit.js'
import { hasEnded, rotateToken as replaceDigest } from '@gateway/store/tokens.js'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { changesOf, changeToken, type Outcome } from './change.js'

const ENDED = refuse('conflict', coded('token_not_usable'))

/**
 * Gives a token a new secret, which only the response contains. The previous secret stays valid for `graceSeconds`. One before that,
 * whose grace period may still have lasted, ends now.
 */
export function rotateToken(
  ctx: ControlContext,
  edges: KnownEdges,
  id: string,
  graceSeconds: number,
  admin: AdminIdentity,
): Promise<Outcome<IssuedToken>> {
  return changeToken(ctx, edges, id, async (tx, token) => {
    if (hasEnded(token, ctx.now())) return ENDED
    const plaintext = createToken()
    const digest = tokenDigest(plaintext)
    const graceUntil = graceSeconds === 0 ? null : new Date(ctx.now() + graceSeconds * 1000)
    const rotated = await replaceDigest(tx, token.id, { digest, prefix: tokenPrefix(plaintext), graceUntil })
    const detail = {
      name: token.name,
      grace_seconds: graceSeconds,
      before: { prefix: token.prefix },
      after: { prefix: rotated.prefix },
    }
    await insertAudit(tx, { ...admin, action: 'token.rotate', subject: token.id, detail })
    // The new digest too: a store in which it was issued has another history than one that was restored from an earlier backup.
    const changes = [...changesOf(token), { kind: 'token' as const, key: digest.toString('hex') }]
    return { ok: true, answer: { ...rotated, token: plaintext }, changes }
  })
}
