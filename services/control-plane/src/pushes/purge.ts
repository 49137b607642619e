import { currentState } from '@gateway/store/change-log.js'
import { cacheTagHeaders, cacheTags } from '@gateway/tilesets/cache-tags.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import { edgesFollow } from '../platform/edges/commit.js'
import { purgedTiles } from './purged-tiles.js'
import { toPurgeRecord } from './record.js'

/**
 * Builds the message that purges a cache in front. Waits until the edges serve the new content: a cache that requests at once would otherwise
 * store the old content again. If the default has changed and few enough tiles differ, the message names them.
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
