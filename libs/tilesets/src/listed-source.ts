import { openCog } from './cog/open.js'
import { openEsri } from './esri/open.js'
import { openTable } from './geopackage/archive.js'
import { layoutNameOf } from './layouts/layout.js'
import { openLayout } from './layouts/open.js'
import type { ListedSource } from './ranges/source.js'
import type { CachedReader, SourceSpec } from './source.js'

/**
 * Opens a set in a format of another maker, whose tiles can be listed. Returns null if it does not exist, or has another storage. A GeoPackage is read
 * by SQLite in this process; edges read it through `MbtilesReaders`. Rejects with `BrokenArchiveError` and the disk's errors.
 */
export async function openListed(spec: SourceSpec, cached: CachedReader | null = null): Promise<ListedSource | null> {
  const { storage } = spec
  switch (storage) {
    case 'esri_compact':
    case 'esri_exploded':
    case 'tpkx':
    case 'vtpk':
      return openEsri(spec, cached)
    case 'geopackage':
      return openTable(spec.root, spec.path, spec.format)
    case 'cog':
      return openCog(spec, cached)
    case 'xyz':
    case 'tms':
    case 'mbtiles':
    case 'pmtiles':
      return null
    default: {
      const layout = layoutNameOf(storage)
      return layout === null ? null : openLayout(spec, layout, cached)
    }
  }
}
