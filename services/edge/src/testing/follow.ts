import type { CatalogReader } from '../sync/catalog-reader.js'
import { CatalogReplica } from '../sync/catalog-replica.js'
import type { RunningEdge } from './running-edge.js'

/**
 * Makes an edge follow a store, and waits until its native tier is attached or refused. `onApplied` is called for each revision.
 */
export async function follow(
  { edge }: RunningEdge,
  store: CatalogReader,
  onApplied: (follower: CatalogReplica) => void = () => {},
): Promise<CatalogReplica> {
  const follower = new CatalogReplica(
    store,
    edge.tokens,
    () => performance.now(),
    () => onApplied(follower),
    (catalog) => edge.hotTiles.follow(catalog),
  )
  await follower.catchUp()
  const freshness = {
    loaded: true,
    leaseExpiresAt: Number.POSITIVE_INFINITY,
    get catalog() {
      return follower.catalog
    },
  }
  Object.assign(edge, { freshness })
  while (edge.sender.reason === 'not attached yet') await new Promise(setImmediate)
  return follower
}
