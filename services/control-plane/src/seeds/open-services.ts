import { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { readServiceSource } from '@gateway/store/scan-sources.js'
import { BlockCache } from '@gateway/tilesets/remote/block-cache.js'
import { UpstreamSources } from '@gateway/tilesets/upstream/upstream-sources.js'
import type { ControlContext } from '../platform/context.js'

/** Opens the services as an edge does, with the cache of the edges of this host. Seam: it knows no job. @param pace resolves when the next request may begin */
export function openServices({ settings, sql, log }: ControlContext, pace: () => Promise<void>) {
  const { tileCacheDir: directory, upstreamAllow: allow, upstreamDeny: deny } = settings
  const cache = new BlockCache({
    directory,
    capacityBytes: settings.tileCacheBytes,
    // Those of the edges, and this one.
    processes: settings.edgeWorkers + 1,
    onTrouble: (error) => log.error({ err: error, directory }, 'TILE_CACHE_DIR fails, and a seed cannot keep tiles'),
    onWorking: () => log.info({ directory }, 'TILE_CACHE_DIR works again'),
  })
  const services = new UpstreamSources({
    guard: new DestinationGuard(settings, undefined, { allow, deny }),
    cache,
    cached: null,
    async access(source) {
      const found = await readServiceSource(sql, source)
      return { headers: found?.headers ?? {}, query: found?.query ?? '' }
    },
    observe: () => {},
    // The record of the basemap has the state that edges see; that of the seed has its own failures.
    onState: () => {},
    pace,
  })
  return { services, cache }
}
