import type { Refusal } from '@gateway/contracts/errors.js'
import { sentence } from '@gateway/contracts/messages.js'
import { readBasemap, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import { type Confirmed, commitAndConfirm } from '../../platform/edges/commit.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'

/** The entries for the change log of a change of the catalog, or the refusal. */
export type CatalogChange = { readonly ok: true; readonly changes: readonly NewChange[] } | Refusal

/** Commits a change of one item and waits for the edges. Returns what `show` makes of the changed item, or the refusal. */
export async function commitItem<T, A extends object>(
  ctx: ControlContext,
  edges: KnownEdges,
  change: (tx: Transaction) => Promise<CatalogChange>,
  read: (tx: Transaction) => Promise<T | null>,
  show: (item: T) => A | Promise<A>,
): Promise<(A & Omit<Confirmed<T>, 'result'>) | Refusal> {
  const { result, ...acknowledged } = await commitAndConfirm<Refusal | { readonly item: T }>(ctx, edges, async (tx) => {
    const changed = await change(tx)
    if (!changed.ok) return { result: changed, changes: [] }
    return { result: { item: (await read(tx)) as T }, changes: changed.changes }
  })
  return 'ok' in result ? result : { ...(await show(result.item)), ...acknowledged }
}

/** Sentence for the descriptions of routes that respond after the edges have followed. */
export const CONFIRMED =
  'The response comes when every live edge process has applied the change, at the latest after TOKEN_STALE_SECONDS. `confirmed` and `pending` ' +
  'name the processes that have and have not applied it.'

export const WITHDRAWN =
  'A withdrawn item is immediately neither served nor listed for readers (404), whatever scans find, until it is restored. Health checks skip ' +
  'it.'

// Postgres cannot store NUL, so no code contains it.
const code = z.string().regex(/^[^\0]*$/, sentence('said.no_nul'))
export const byCode = z.object({ code })
export const byVersion = z.object({ code, version: code })

export function versionOf(basemap: StoredBasemap | null, version: string): StoredVersion | null {
  return basemap?.versions.find((one) => one.version === version) ?? null
}

export async function readVersion(tx: Transaction, code: string, version: string): Promise<StoredVersion | null> {
  return versionOf(await readBasemap(tx, code), version)
}
