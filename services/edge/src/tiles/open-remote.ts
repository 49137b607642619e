import type { Log } from '@gateway/core/logging/log.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import { BlockCache } from '@gateway/tilesets/remote/block-cache.js'
import { RemoteSources } from '@gateway/tilesets/remote/remote-sources.js'
import type { CachedReader } from '@gateway/tilesets/source.js'
import type { Counters } from '../metrics/counters.js'

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
