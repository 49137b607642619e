import { type Catalog, type CatalogBasemap, hasSameTiles } from '../sync/catalog.js'
import { tilesOf } from '../sync/drawn-styles.js'

/** The basemaps of which a cache holds tiles. All cached tiles of a basemap were looked up in snapshots in which it had the same tiles. */
export class CachedBasemaps {
  readonly #byCode = new Map<string, CatalogBasemap>()

  add(basemap: CatalogBasemap): void {
    this.#byCode.set(basemap.stored.code, basemap)
  }

  /** Removes the basemaps whose tiles differ or are missing in this snapshot, and returns their codes. */
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
