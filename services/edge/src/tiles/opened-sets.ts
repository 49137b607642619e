import { openTileSet } from '@gateway/tiles/open.js'
import type { TileSet } from '@gateway/tiles/tile-set.js'
import { LRUCache } from 'lru-cache'
import type { Catalog, CatalogVersion } from '../catalog/catalog.js'

/** Limit: each archive holds a descriptor or a database handle with its page cache. */
const MAX_OPENED = 256

/** An opened version. `hold` keeps its descriptor open until the returned function is called, whatever happens to the version meanwhile. */
export class OpenedSet {
  readonly tileSet: TileSet
  #holders = 0
  #doomed = false

  constructor(tileSet: TileSet) {
    this.tileSet = tileSet
  }

  hold(): () => void {
    this.#holders++
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#holders--
      this.#closeWhenFree()
    }
  }

  /** Nobody will ask for it any more: it is closed as soon as nobody reads from it. */
  doom(): void {
    this.#doomed = true
    this.#closeWhenFree()
  }

  #closeWhenFree(): void {
    if (this.#doomed && this.#holders === 0) this.tileSet.close()
  }
}

/** The opened versions of this process, by their content: a version that a scan found changed is opened anew. */
export class OpenedSets {
  readonly #sets = new LRUCache<number, OpenedSet>({ max: MAX_OPENED, dispose: (set) => set.doom() })

  /** null: what the catalog says is there is not. Throws BrokenArchiveError, and what the disk throws. */
  open(version: CatalogVersion): OpenedSet | null {
    const known = this.#sets.get(version.contentId)
    if (known !== undefined) return known
    const { storage, path, extension } = version.stored
    const opening = openTileSet({ storage, path, extension, root: version.root })
    if (!opening.ok) return null
    const opened = new OpenedSet(opening.tileSet)
    this.#sets.set(version.contentId, opened)
    return opened
  }

  /** Closes what no version of the catalog is any more. */
  keepOnly(catalog: Catalog): void {
    const live = new Set<number>()
    for (const basemap of catalog.basemaps.values()) {
      for (const version of basemap.versions.values()) live.add(version.contentId)
    }
    for (const contentId of [...this.#sets.keys()]) if (!live.has(contentId)) this.#sets.delete(contentId)
  }

  closeAll(): void {
    this.#sets.clear()
  }
}
