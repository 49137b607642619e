import type { Token } from '@gateway/contracts/token.js'
import { insertAudit } from '@gateway/store/audit.js'
import { disableToken as markDisabled } from '@gateway/store/tokens.js'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { changesOf, changeToken, type Outcome, type TokenWork } from './change.js'

/** Disables a token. A second call returns the same result and waits for the edges again. */
export function disableToken(
  ctx: ControlContext,
  edges: KnownEdges,
  id: string,
  admin: AdminIdentity,
): Promise<Outcome<Token>> {
  return changeToken(ctx, edges, id, disabling(admin))
}

export function disabling(admin: AdminIdentity): TokenWork<Token> {
  return async (tx, token) => {
    const { id, name, prefix } = token
    const disabled = (await markDisabled(tx, id)) as Token
    const change = { before: { disabled_at: token.disabled_at }, after: { disabled_at: disabled.disabled_at } }
    await insertAudit(tx, { ...admin, action: 'token.disable', subject: id, detail: { name, prefix, ...change } })
    return { ok: true, answer: disabled, changes: changesOf(token) }
  }
}
