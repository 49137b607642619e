import { type Catalog, type CatalogBasemap, hasSameTiles, tilesOf } from '../sync/catalog.js'

/** The basemaps of which a cache holds tiles. All its tiles of one basemap were looked up by snapshots in which that had the same tiles. */
export class CachedBasemaps {
  readonly #byCode = new Map<string, CatalogBasemap>()

  add(basemap: CatalogBasemap): void {
    this.#byCode.set(basemap.stored.code, basemap)
  }

  /** Takes out the basemaps whose tiles are others in this snapshot, or are gone; answers their codes. */
  takeChanged(catalog: Catalog): ReadonlySet<string> {
    const changed = new Set<string>()
    for (const [code, basemap] of this.#byCode) {
      if (hasSameTiles(basemap, tilesOf(catalog, code))) continue
      changed.add(code)
      this.#byCode.delete(code)
    }
    return changed
  }
}
