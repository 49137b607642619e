import type { Tile } from '@gateway/tilesets/source.js'
import { type Catalog, hasSameTiles, sharedCatalog } from '../sync/catalog.js'
import { tilesOf } from '../sync/drawn-styles.js'
import { OpenFile } from '../tiles/open-file.js'
import { type CachedTile, RECHECK_MS, TileCache, type TileTarget } from '../tiles/tile-cache.js'
import type { NativeOpening, NativePublisher } from './publisher.js'

/** Limit: characters of an address whose tile is cached; a longer address is served, but not cached. */
const MAX_KEPT_PATH = 512

/**
 * The cached tiles, each in one of two places: in the table of the native tier, which answers with them, or in the memory of JavaScript, for requests
 * in forms that only JavaScript answers. Without the native tier all are in JavaScript.
 */
export class HotTiles {
  readonly #native: NativePublisher
  readonly #cache: TileCache
  readonly #cutting = new Map<string, Promise<unknown>>()

  /**
   * @param capacityBytes of both places
   * @param onEvicted called for each evicted tile in the memory of JavaScript
   */
  constructor(native: NativePublisher, capacityBytes: number, onEvicted?: () => void) {
    this.#native = native
    this.#cache = new TileCache(capacityBytes, onEvicted)
  }

  /** Must be called after the sender was attached: see `NativePublisher.open`. */
  open(opening: NativeOpening): void {
    this.#native.open(this.#cache, opening)
  }

  get bytes(): { readonly native: number; readonly javascript: number } {
    return { native: this.#native.bytes, javascript: this.#cache.bytes }
  }

  get capacityBytes(): number {
    return this.#native.capacityBytes + this.#cache.capacityBytes
  }

  /**
   * Returns a tile that JavaScript can send. Returns undefined if the tile is not cached, or if its set must be registered with the native tier
   * again, for which the tile is treated as not cached.
   */
  get(path: string, catalog: Catalog, nowMs: number): CachedTile | undefined {
    return this.#native.needsRefresh(path, nowMs) ? undefined : this.#cache.get(path, sharedCatalog(catalog), nowMs)
  }

  /** Lets concurrent requests for one cut share it. The promise must not reject. */
  cutOnce<T>(name: string, cut: () => Promise<T>): Promise<T> {
    const known = this.#cutting.get(name) as Promise<T> | undefined
    if (known !== undefined) return known
    const cutting = cut().finally(() => this.#cutting.delete(name))
    this.#cutting.set(name, cutting)
    return cutting
  }

  /** Returns a tile that was cut to an area, whose part of a key is `area`. The native tier has none. */
  getCut(path: string, area: string, catalog: Catalog, nowMs: number): CachedTile | undefined {
    return this.#cache.get(path + area, sharedCatalog(catalog), nowMs)
  }

  /** Caches a tile that was cut to an area, if all readers with this area get it at its address. */
  keepCut(path: string, area: string, readers: Catalog, { basemap, isShared }: TileTarget, tile: CachedTile): void {
    const catalog = sharedCatalog(readers)
    const isCurrent = hasSameTiles(basemap, tilesOf(catalog, basemap.stored.code))
    if (isShared && path.length <= MAX_KEPT_PATH && isCurrent) this.#cache.keep(path + area, catalog, tile)
  }

  /**
   * Caches a tile, or retires its file. The tile is not cached if its basemap has changed while it was loaded, because its address may mean another
   * tile now, or if it was not requested before.
   */
  keep(
    path: string,
    readers: Catalog,
    { basemap, isShared, isNative = true }: TileTarget,
    tile: CachedTile,
    { body, file, currentForSeconds, isStale }: Tile,
  ): void {
    const catalog = sharedCatalog(readers)
    const inMemory = body instanceof Uint8Array
    const { code } = basemap.stored
    const isCurrent = hasSameTiles(basemap, tilesOf(catalog, code))
    // A tile that is current for a time is looked up again before it ends.
    const isLasting = isStale !== true && (currentForSeconds ?? Number.POSITIVE_INFINITY) * 1000 > RECHECK_MS
    const mayKeep =
      isLasting && isShared && path.length <= MAX_KEPT_PATH && isCurrent && (inMemory || body.isCached !== true)
    // The table duplicates descriptors, sends only local files, and checks only whole files again.
    const mayOffer = inMemory || (file !== null && body.remote === undefined)
    const offered =
      mayKeep && mayOffer && isNative
        ? this.#native.tryCache(path, body, tile, { file, isAging: currentForSeconds !== undefined }, performance.now())
        : 'declined'
    if (mayKeep && offered === 'declined') this.#cache.keep(path, catalog, tile)
    else if (tile.body instanceof OpenFile) tile.body.retire()
  }

  /** Must be called if its file differs from the cached one. */
  drop(path: string): void {
    this.#cache.drop(path)
  }

  /** Drops the tiles of a basemap, whose content has changed without a new snapshot. */
  dropOf(code: string): void {
    this.#native.dropOf(code)
    this.#cache.dropOf(code)
  }

  /** Drops the tiles of the basemaps whose tiles differ in this snapshot; must be called before any request sees it. */
  follow(catalog: Catalog): void {
    this.#native.follow(catalog)
    this.#cache.follow(catalog)
  }
}
