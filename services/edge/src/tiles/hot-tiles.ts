import type { Tile } from '@gateway/tilesets/source.js'
import type { NativeOpening, NativePublisher } from '../native/publisher.js'
import { type Catalog, hasSameTiles, sharedCatalog, tilesOf, VECTOR_TILES_CODE } from '../sync/catalog.js'
import { OpenFile } from './open-file.js'
import { type CachedTile, TileCache } from './tile-cache.js'
import type { TileTarget } from './tile-target.js'

/** Limit: a longer address is served, but not kept. */
const MAX_KEPT_PATH = 512

/**
 * The tiles that are kept for the next requests, each in one of two places: in the table of the native tier, which answers with them, or in the memory of
 * JavaScript, which has those that are asked for in ways that only JavaScript answers. Without the native tier all are there.
 */
export class HotTiles {
  readonly #native: NativePublisher
  readonly #cache: TileCache

  /** @param capacityBytes of both places @param onEvicted called for each tile in the memory of JavaScript that had to make room */
  constructor(native: NativePublisher, capacityBytes: number, onEvicted?: () => void) {
    this.#native = native
    this.#cache = new TileCache(capacityBytes, onEvicted)
  }

  /** To be called once the sender is attached: see `NativePublisher.open`. */
  open(opening: NativeOpening): void {
    this.#native.open(this.#cache, opening)
  }

  get bytes(): { readonly native: number; readonly javascript: number } {
    return { native: this.#native.bytes, javascript: this.#cache.bytes }
  }

  get capacityBytes(): number {
    return this.#native.capacityBytes + this.#cache.capacityBytes
  }

  /** A tile for JavaScript to answer with. undefined: there is none, or its set is to be shown to the native tier again, as with a tile that is not kept. */
  get(path: string, catalog: Catalog, nowMs: number): CachedTile | undefined {
    return this.#native.needsRefresh(path, nowMs) ? undefined : this.#cache.get(path, sharedCatalog(catalog), nowMs)
  }

  /**
   * Keeps a tile, or retires its file. It is not kept if its basemap has changed while it was loaded: its address may mean another by now. What
   * nobody has asked for before is kept nowhere.
   */
  keep(
    path: string,
    readers: Catalog,
    { basemap, isShared }: TileTarget,
    tile: CachedTile,
    { body, file }: Tile,
  ): void {
    const catalog = sharedCatalog(readers)
    const inMemory = body instanceof Uint8Array
    const { code } = basemap.stored
    const isCurrent = hasSameTiles(basemap, tilesOf(catalog, code))
    const mayKeep = isShared && path.length <= MAX_KEPT_PATH && isCurrent && (inMemory || body.isCached !== true)
    // The table knows only the grants of basemaps. It duplicates descriptors, sends files only of this machine, and checks only whole files again.
    const mayOffer = !code.startsWith(VECTOR_TILES_CODE) && (inMemory || (file !== null && body.remote === undefined))
    const offered = mayKeep && mayOffer ? this.#native.tryCache(path, body, tile, file, performance.now()) : 'declined'
    if (mayKeep && offered === 'declined') this.#cache.keep(path, catalog, tile)
    else if (tile.body instanceof OpenFile) tile.body.retire()
  }

  /** Its file turned out to be another than was kept. */
  drop(path: string): void {
    this.#cache.drop(path)
  }

  /** Drops the tiles of the basemaps whose tiles are not the same in this snapshot; to be called before anyone sees it. */
  follow(catalog: Catalog): void {
    this.#native.follow(catalog)
    this.#cache.follow(catalog)
  }
}
