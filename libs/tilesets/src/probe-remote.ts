import { parseLocation } from '@gateway/core/object-storage/location.js'
import type { ObjectStore, ReadOptions } from '@gateway/core/object-storage/object-store.js'
import { BrokenArchiveError } from './broken-archive.js'
import { probeObjects, probeUnlisted } from './folder/probe-objects.js'
import { probePmtilesObject } from './pmtiles/probe-object.js'
import { archiveStorageOf } from './probe.js'
import type { TileSetProbe } from './tile-set.js'

/**
 * `probeTileSet` for a version in object storage: a PMTiles archive or a folder above zoom folders. Returns null if it contains no tiles.
 * MBTiles cannot be read in ranges, so the caller downloads them. Rejects with `BrokenArchiveError`, and with errors of the store.
 */
export async function probeRemoteTileSet(
  store: ObjectStore,
  key: string,
  options: ReadOptions = {},
): Promise<TileSetProbe | null> {
  const storage = archiveStorageOf(key === '' ? store.url : key)
  if (storage === 'pmtiles') return probePmtilesObject(store, key, options)
  if (storage !== null && storage !== 'mbtiles') {
    throw new BrokenArchiveError(
      `a ${storage} archive is read from disks of this machine only: make it PMTiles, or copy it here`,
    )
  }
  const location = parseLocation(store.url)
  const canBeListed = typeof location !== 'string' && location.kind === 's3'
  if (canBeListed) return probeObjects(store, key === '' ? '' : `${key}/`, options)
  return probeUnlisted(store, options)
}
