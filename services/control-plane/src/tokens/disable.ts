import type { Acknowledgement } from '@gateway/bus/bus.js'
import type { DisabledToken } from '@gateway/contracts/edge.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import { disableToken as markDisabled } from '@gateway/store/tokens.js'
import { type ControlContext, commitAndPublish } from '../context.js'
import type { KnownEdges } from '../edges/known-edges.js'
import type { AdminIdentity } from '../http/app-type.js'

export type Disabled = { readonly ok: true; readonly disabled: DisabledToken } | Refusal

const NO_SUCH_TOKEN = refuse('not_found', 'no such token')
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Disables a token and waits until every live edge process refuses it, at most for TOKEN_STALE_SECONDS: by then the edges that the bus
 * does not reach have asked the store. Disabling again answers the same and waits again.
 */
export async function disableToken(
  ctx: ControlContext,
  edges: KnownEdges,
  id: string,
  admin: AdminIdentity,
): Promise<Disabled> {
  if (!UUID.test(id)) return NO_SUCH_TOKEN
  const { result, revision } = await commitAndPublish(ctx, async (tx) => {
    const token = await markDisabled(tx, id)
    if (token === null) return { result: null, changes: [] }
    const detail = { name: token.name, prefix: token.prefix }
    await insertAudit(tx, { ...admin, action: 'token.disable', subject: token.id, detail })
    return { result: token, changes: [{ kind: 'token', key: token.digest }] }
  })
  if (result === null || revision === null) return NO_SUCH_TOKEN
  const { digest: _, ...token } = result
  const { confirmed, pending } = await acknowledgement(ctx, edges, revision)
  return { ok: true, disabled: { ...token, confirmed: [...confirmed], pending: [...pending] } }
}

/** With the bus out of reach nobody can confirm: every edge that was last known may still be on its way to the store. */
async function acknowledgement(ctx: ControlContext, edges: KnownEdges, revision: number): Promise<Acknowledgement> {
  try {
    return await ctx.bus.awaitApplied(revision, ctx.settings.tokenStaleSeconds * 1000)
  } catch (error) {
    ctx.log.warn({ err: (error as Error).message, revision }, 'the bus is out of reach; no edge can confirm')
    return { confirmed: [], pending: edges.lastKnown }
  }
}
