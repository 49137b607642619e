import { openTileSet } from '@gateway/tiles/open.js'
import type { TileSet } from '@gateway/tiles/tile-set.js'
import { LRUCache } from 'lru-cache'
import type { Catalog, CatalogVersion } from '../catalog/catalog.js'
import { isOnLocalDisk } from '../files/local-file-system.js'

/** Limit: each archive holds a descriptor or a database handle with its page cache. */
const MAX_OPENED = 256
/** How long a folder counts as being on a local disk without asking again: something else may be mounted in its place. */
const LOOK_AGAIN_MS = 60_000

/** An opened version. `hold` keeps its descriptor open until the returned function is called, whatever happens to the version meanwhile. */
export class OpenedSet {
  readonly tileSet: TileSet
  /** of the folder or archive */
  readonly path: string
  readonly #root: string
  /** see `isOnLocalDisk`; of the version itself, since its source may hold mounts */
  readonly isLocal: boolean
  readonly openedAtMs = Date.now()
  #holders = 0
  #doomed = false

  constructor(tileSet: TileSet, root: string, path: string, isLocal: boolean) {
    this.tileSet = tileSet
    this.#root = root
    this.path = path
    this.isLocal = isLocal
  }

  /** The scan source, where it is not on a local disk. */
  get remote(): string | undefined {
    return this.isLocal ? undefined : this.#root
  }

  get isFolder(): boolean {
    return this.tileSet.storage === 'xyz' || this.tileSet.storage === 'tms'
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

export interface HeldSet {
  readonly set: OpenedSet
  readonly release: () => void
}

function held(set: OpenedSet): HeldSet {
  return { set, release: set.hold() }
}

/** The opened versions of this process, by their content: a version that a scan found changed is opened anew. */
export class OpenedSets {
  readonly #sets = new LRUCache<number, OpenedSet>({ max: MAX_OPENED, dispose: (set) => set.doom() })

  /** undefined: it must be opened first, or again. */
  get({ contentId }: CatalogVersion): OpenedSet | undefined {
    const known = this.#sets.get(contentId)
    if (known === undefined || !known.isFolder) return known
    return Date.now() - known.openedAtMs < LOOK_AGAIN_MS ? known : undefined
  }

  /**
   * Opens a version, which asks the disk, and holds it. null: what the catalog says is there is not. Rejects with BrokenArchiveError, and
   * what the disk says.
   */
  async hold(version: CatalogVersion): Promise<HeldSet | null> {
    const known = this.get(version)
    if (known !== undefined) return held(known)
    const { storage, path, extension } = version.stored
    const opening = await openTileSet({ storage, path, extension, root: version.root })
    if (!opening.ok) return null
    const opened = new OpenedSet(opening.tileSet, version.root, path, await isOnLocalDisk(path).catch(() => false))
    const meanwhile = this.get(version)
    if (meanwhile !== undefined) {
      opened.doom()
      return held(meanwhile)
    }
    this.#sets.set(version.contentId, opened)
    return held(opened)
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
