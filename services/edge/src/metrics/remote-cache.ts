import type { RemoteCache } from '@gateway/contracts/edge.js'
import type { RemoteSources } from '@gateway/tilesets/remote/remote-sources.js'
import type { Counters } from './counters.js'

/**
 * Returns the state of the cache of remote tiles that is announced with this process's presence; undefined if no remote
 * version was requested.
 */
export function remoteCacheOf(remote: RemoteSources | undefined, counters: Counters): RemoteCache | undefined {
  if (remote === undefined || remote.stores.size === 0) return undefined
  const { counts, capacityBytes } = remote.cache
  return {
    kept_bytes: counts.keptBytes,
    capacity_bytes: capacityBytes,
    saved_bytes: counters.remoteTileBytes + counts.servedBytes,
    fetched_bytes: counts.fetchedBytes,
    failing: counts.failing === 1,
  }
}
