import type { TilePlace } from '@gateway/tilesets/source.js'
import type { CatalogBasemap, CatalogVersion } from '../sync/catalog.js'

/** A tile by the snapshot of its basemap that it was found in, and how long clients may keep it under the address that they asked for. */
export interface TileTarget {
  readonly ok: true
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
  readonly place: TilePlace
  readonly cacheControl: string
  /** whether everybody who may read the basemap gets the same at this address: it is kept nowhere otherwise */
  readonly isShared: boolean
}
