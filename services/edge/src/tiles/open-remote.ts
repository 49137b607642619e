import type { Log } from '@gateway/core/logging/log.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { noteUpstreamState, readServiceSource } from '@gateway/store/scan-sources.js'
import type { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import { BlockCache } from '@gateway/tilesets/remote/block-cache.js'
import { RemoteSources } from '@gateway/tilesets/remote/remote-sources.js'
import type { CachedReader } from '@gateway/tilesets/source.js'
import { UpstreamSources } from '@gateway/tilesets/upstream/upstream-sources.js'
import type { Counters } from '../metrics/counters.js'
import type { StoreLink } from '../sync/store-link.js'

interface Needs {
  readonly settings: Settings
  readonly log: Log
  readonly counters: Counters
  readonly mbtiles: MbtilesReaders
  readonly onReplaced: (contentId: number) => void
}

/** Opens the sources in object storage, with the cache from the settings. */
export function openRemote({ settings, log, counters, mbtiles, onReplaced }: Needs, cached: CachedReader | null) {
  const cache = new BlockCache({
    directory: settings.tileCacheDir,
    capacityBytes: settings.tileCacheBytes,
    processes: settings.edgeWorkers,
    onTrouble: (error) =>
      log.error(
        { err: error, directory: settings.tileCacheDir },
        'TILE_CACHE_DIR fails; remote tiles are served without it',
      ),
    onWorking: () => log.info({ directory: settings.tileCacheDir }, 'TILE_CACHE_DIR works again'),
  })
  const openStore = (root: string) =>
    openObjectStore(root, settings, ({ status, seconds }) => counters.storageRequest(status, seconds))
  return new RemoteSources({ openStore, cache, cached, mbtiles, onReplaced })
}

/** Opens the services of others, whose tiles are kept in the cache of remote sources. */
export function openUpstream(
  {
    settings,
    log,
    counters,
    store,
  }: Pick<Needs, 'settings' | 'log' | 'counters'> & { readonly store: Pick<StoreLink, 'query'> },
  remote: RemoteSources,
  cached: CachedReader | null,
): UpstreamSources {
  return new UpstreamSources({
    guard: new DestinationGuard(settings, undefined, { allow: settings.upstreamAllow, deny: settings.upstreamDeny }),
    cache: remote.cache,
    cached,
    async access(source) {
      const found = await store.query((sql) => readServiceSource(sql, source))
      return { headers: found?.headers ?? {}, query: found?.query ?? '' }
    },
    observe: (_, status, seconds) => counters.upstreamRequest(status, seconds),
    onState: (source, state, before) => {
      const { failures, message } = state
      if (state.state === 'open' && before === 'closed')
        log.warn({ source, failures, err: message }, 'a service fails and is asked by one request every 10 s')
      else if (state.state === 'closed' && before === 'open') log.info({ source }, 'a service answers again')
      // The next change is stored if the store is out of reach now.
      store.query((sql) => noteUpstreamState(sql, source, state)).catch(() => {})
    },
  })
}
