import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { deleteToken as deleteRecord, hasEnded } from '@gateway/store/tokens.js'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { changesOf, changeToken, type Outcome } from './change.js'

const STILL_ACTIVE = refuse('conflict', coded('token_still_active'))

/** Deletes a token that is disabled or expired. One that may be in use must be disabled first, which can be reviewed. */
export function deleteToken(
  ctx: ControlContext,
  edges: KnownEdges,
  id: string,
  admin: AdminIdentity,
): Promise<Outcome<object>> {
  return changeToken(ctx, edges, id, async (tx, token) => {
    if (!hasEnded(token, ctx.now())) return STILL_ACTIVE
    await deleteRecord(tx, token.id)
    const { name, prefix, disabled_at, expires_at } = token
    const detail = { before: { name, prefix, disabled_at, expires_at } }
    await insertAudit(tx, {
      ...admin,
      action: 'token.delete',
      subject: token.id,
      detail,
    })
    return { ok: true, answer: {}, changes: changesOf(token) }
  })
}
