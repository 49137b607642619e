import type { Transaction } from '@gateway/store/connect.js'
import type { Keys } from '@gateway/store/listing.js'
import { bulkRoute, type ListQuery } from '../../platform/bulk/bulk-route.js'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import type { CatalogChange } from './route-parts.js'

/** A scan writes many of these records in one transaction and in its own order. A batch of several records could deadlock with it. */
const BATCH_SIZE = 1

interface CatalogKind {
  readonly path: 'basemaps' | 'vectors' | 'styles'
  readonly operationId: string
  readonly query: ListQuery
  readonly find: (filter: Readonly<Record<string, unknown>>, most: number) => Promise<Keys>
  readonly update: (
    tx: Transaction,
    code: string,
    patch: { readonly withdrawn: boolean },
    admin: AdminIdentity,
  ) => Promise<CatalogChange>
}

/** Withdraws or restores many basemaps, vectors or styles. */
export function bulkCatalogRoute(
  app: App,
  ctx: ControlContext,
  edges: KnownEdges,
  { update, ...kind }: CatalogKind,
): void {
  bulkRoute(app, ctx, {
    ...kind,
    noun: kind.path,
    actions: {
      withdraw: 'makes the items neither served nor listed for readers (404), whatever scans find',
      restore: 'serves and lists the items again',
    },
    change:
      ({ action, admin }) =>
      (tx, code) =>
        update(tx, code, { withdrawn: action === 'withdraw' }, admin),
    edges,
    batchSize: BATCH_SIZE,
  })
}
