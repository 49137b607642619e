import { isRemote } from '@gateway/core/object-storage/location.js'
import { openFolder } from './folder/source.js'
import { openListed } from './listed-source.js'
import type { MbtilesReaders } from './mbtiles/readers/readers.js'
import { openPmtiles } from './pmtiles/source.js'
import type { RemoteSources } from './remote/remote-sources.js'
import type { CachedReader, Source, SourceSpec } from './source.js'
import type { UpstreamSources, UpstreamSpec } from './upstream/upstream-sources.js'

export interface StorageReaders {
  readonly mbtiles: MbtilesReaders
  /** null: unavailable, so that no source has `tileIfCached` */
  readonly cached: CachedReader | null
  /** undefined: remote versions are not served */
  readonly remote?: RemoteSources | undefined
  /** undefined: versions of services are not served */
  readonly upstream?: UpstreamSources | undefined
}

/**
 * Opens a version for serving, without blocking the event loop. Returns null if the archive does not exist. Rejects with `BrokenArchiveError`
 * for an archive that cannot be served, the disk's errors, and for remote versions `ObjectRefused` and `ObjectStoreTrouble`. MBTiles and folders
 * are opened with their first tile.
 */
export async function openSource(
  spec: SourceSpec,
  { mbtiles, cached, remote, upstream }: StorageReaders,
): Promise<Source | null> {
  if (spec.storage === 'upstream') return upstream?.open(spec as UpstreamSpec) ?? null
  if (isRemote(spec.path)) return remote?.open(spec) ?? null
  const ownCached = spec.isRemote ? null : cached
  switch (spec.storage) {
    case 'xyz':
    case 'tms':
      return openFolder(spec, ownCached)
    case 'pmtiles':
      return openPmtiles(spec, ownCached)
    case 'mbtiles':
      return mbtiles.source(spec)
    case 'geopackage':
      // The matrices of the table define the order of its rows.
      return mbtiles.source({ ...spec, rowsFromNorth: false })
    default:
      return openListed(spec, ownCached)
  }
}
