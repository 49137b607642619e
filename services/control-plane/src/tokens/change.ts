import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { type LockedToken, lockToken } from '@gateway/store/tokens.js'
import type { ControlContext } from '../platform/context.js'
import { type Confirmed, commitTogether } from '../platform/edges/commit.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import { isUuid } from '../platform/http/input-validation.js'

export const NO_SUCH_TOKEN = refuse('not_found', coded('token_not_found'))

type Acknowledged = Pick<Confirmed<unknown>, 'confirmed' | 'pending'>
export type Outcome<T> = { readonly ok: true; readonly answer: T & Acknowledged } | Refusal

/** The result with its entries for the change log, or the refusal. */
export type Done<T> =
  | {
      readonly ok: true
      readonly answer: T
      readonly changes: readonly NewChange[]
    }
  | Refusal

/** A change of a locked token. It refuses before it writes anything. */
export type TokenWork<T> = (tx: Transaction, token: LockedToken) => Promise<Done<T>>

/** Changes one token within a transaction that may also change others. */
export async function changeInside<T>(tx: Transaction, id: string, work: TokenWork<T>): Promise<Done<T>> {
  const token = isUuid(id) ? await lockToken(tx, id) : null
  return token === null ? NO_SUCH_TOKEN : work(tx, token)
}

/**
 * Changes an existing token and waits until every live edge process has dropped its cached state, for at most TOKEN_STALE_SECONDS: by then
 * the edges that the bus does not reach have asked the store. It does not wait for an edge that fell silent within TOKEN_OFFLINE_SECONDS, and
 * returns it as pending. Concurrent changes of one token run one after the other.
 */
export async function changeToken<T>(
  ctx: ControlContext,
  edges: KnownEdges,
  id: string,
  work: TokenWork<T>,
): Promise<Outcome<T>> {
  const { result, confirmed, pending } = await commitTogether(ctx, edges, id, async (tx) => {
    const done = await changeInside(tx, id, work)
    return { result: done, changes: done.ok ? done.changes : [] }
  })
  return result.ok ? { ok: true, answer: { ...result.answer, confirmed, pending } } : result
}

/** Returns the entries that edges must drop when a token changes. */
export function changesOf({ digests }: LockedToken): NewChange[] {
  return digests.map((key) => ({ kind: 'token', key }))
}
