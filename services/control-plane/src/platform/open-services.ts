import { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { readServiceSource } from '@gateway/store/scan-sources.js'
import { BlockCache } from '@gateway/tilesets/remote/block-cache.js'
import { type ServiceAccess, UpstreamSources } from '@gateway/tilesets/upstream/upstream-sources.js'
import type { ControlContext } from './context.js'

interface ServicesOptions {
  /** resolves when the next request may begin; absent: at once */
  readonly pace?: () => Promise<void>
  /** the access to all services, of sources that are not stored; absent: as stored */
  readonly access?: ServiceAccess
}

/** Opens the services as an edge does, with the cache of the edges of this host. */
export function openServices({ settings, sql, log }: ControlContext, { pace, access: given }: ServicesOptions) {
  const { tileCacheDir: directory, upstreamAllow: allow, upstreamDeny: deny } = settings
  const cache = new BlockCache({
    directory,
    capacityBytes: settings.tileCacheBytes,
    // Those of the edges, and this one.
    processes: settings.edgeWorkers + 1,
    onTrouble: (error) =>
      log.error({ err: error, directory }, 'TILE_CACHE_DIR fails, and fetched tiles cannot be kept'),
    onWorking: () => log.info({ directory }, 'TILE_CACHE_DIR works again'),
  })
  const services = new UpstreamSources({
    guard: new DestinationGuard(settings, undefined, { allow, deny }),
    cache,
    cached: null,
    async access(source) {
      if (given !== undefined) return given
      const found = await readServiceSource(sql, source)
      return { headers: found?.headers ?? {}, query: found?.query ?? '' }
    },
    observe: () => {},
    // The record of the basemap has the state that edges see; that of the seed has its own failures.
    onState: () => {},
    ...(pace !== undefined && { pace }),
  })
  return { services, cache }
}
