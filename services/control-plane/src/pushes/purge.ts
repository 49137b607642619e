import { currentState } from '@gateway/store/change-log.js'
import { cacheTagHeaders, cacheTags } from '@gateway/tilesets/cache-tags.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import { edgesFollow } from '../platform/edges/commit.js'
import { purgedTiles } from './purged-tiles.js'
import { toPurgeRecord } from './record.js'

/**
 * What a cache in front is to forget. Not before the edges serve what is true now: a cache that asks at once would otherwise take what it has
 * just forgotten. If the default has changed, and so few tiles differ that each can be named, they are.
 */
export const purgePayload: PayloadBuilder = async (ctx, claimed) => {
  await edgesFollow(ctx, await currentState(ctx.sql))
  const changed = await purgedTiles(ctx, claimed)
  const at = new Date(ctx.now())
  const tags = cacheTags(claimed.basemapCode ?? '', claimed.version)
  const event = {
    event: 'cache.purge',
    tags,
    ...changed,
    record: toPurgeRecord({ ...claimed, dueAt: null, export: null, updatedAt: at, acknowledgedAt: null }),
    delivered: at.toISOString(),
  }
  return { ok: true, event, bundle: null, headers: Object.fromEntries(cacheTagHeaders(tags)) }
}
