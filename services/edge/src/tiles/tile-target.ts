import type { TilePlace } from '@gateway/tilesets/source.js'
import type { CatalogBasemap, CatalogVersion } from '../sync/catalog.js'

/** A tile of a basemap's snapshot in which it was found, and the time for which clients may cache it under the requested address. */
export interface TileTarget {
  readonly ok: true
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
  readonly place: TilePlace
  readonly cacheControl: string
  /** True if all readers of the basemap get the same tile at this address; otherwise it is never cached. */
  readonly isShared: boolean
}
