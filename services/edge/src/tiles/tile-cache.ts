import type { TileFormat, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { TilePlace } from '@gateway/tilesets/source.js'
import { LRUCache } from 'lru-cache'
import type { UsageName } from '../sync/catalog.js'
import { type Catalog, type CatalogBasemap, type CatalogVersion, EMPTY_CATALOG } from '../sync/catalog.js'
import { CachedBasemaps } from './cached-basemaps.js'
import { OpenFile } from './open-file.js'

/** A tile of a basemap's snapshot in which it was found, and the time for which clients may cache it under the requested address. */
export interface TileTarget {
  readonly ok: true
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
  readonly place: TilePlace
  readonly cacheControl: string
  /** True if all readers of the basemap get the same tile at this address; otherwise it is never cached. */
  readonly isShared: boolean
  /** False if the native tier cannot decide who may read it; default: true. */
  readonly isNative?: boolean
  /** The time in ms after which a request is refused while its tile is still being made; default: it waits. */
  readonly waits?: { readonly ms: number; readonly late: Refusal }
}

/** Bytes of an entry in addition to its body: address, header blocks, the cache's own data. */
const OVERHEAD_BYTES = 1_500
/** Limit: large tiles, of which only the descriptor is cached; each is weighted so that no more fit. */
const MAX_OPEN_FILES = 512
/**
 * Time in ms for which a tile is served from memory without checking its file again. Scans drop changed tiles at once; this bounds
 * how long a file that was replaced under the same name is not detected.
 */
export const RECHECK_MS = 10_000

/** The parts of a tile's responses that the HTTP layer prepares once. */
export interface TileAnswer {
  readonly etag: string
  readonly modifiedMs: number
  /** True if the stored bytes are gzip, which clients that refuse gzip must not get. */
  readonly gzip: boolean
  readonly found: { readonly name: string; readonly value: string }
  readonly notModified: { readonly name: string; readonly value: string }
}

/** A tile with everything that a hit needs. Small tiles have their bytes here, large ones their open file. */
export class CachedTile {
  readonly body: Uint8Array | OpenFile
  readonly answer: TileAnswer
  readonly basemap: CatalogBasemap
  /** Usage name to which responses with it are accounted. */
  readonly usage: UsageName
  readonly tileMatrixSet: TileMatrixSetId
  readonly format: TileFormat
  readonly lookAgainAtMs: number

  constructor(
    body: Uint8Array | OpenFile,
    answer: TileAnswer,
    { basemap, version }: Pick<TileTarget, 'basemap' | 'version'>,
    nowMs: number,
  ) {
    this.body = body
    this.answer = answer
    this.basemap = basemap
    this.usage = version.usage
    this.tileMatrixSet = version.stored.tileMatrixSet
    this.format = version.stored.format
    this.lookAgainAtMs = nowMs + RECHECK_MS
  }
}

/** Tiles in memory, by the unchanged path of their address. A basemap's tiles are dropped when the catalog changes them. */
export class TileCache {
  #tiles: LRUCache<string, CachedTile>
  #catalog: Catalog = EMPTY_CATALOG
  readonly #basemaps = new CachedBasemaps()
  readonly #onEvicted: () => void

  /**
   * @param capacityBytes limit: bytes of tiles
   * @param onEvicted called for each evicted tile
   */
  constructor(capacityBytes: number, onEvicted: () => void = () => {}) {
    this.#onEvicted = onEvicted
    this.#tiles = tilesWithin(capacityBytes, onEvicted)
  }

  get capacityBytes(): number {
    return this.#tiles.maxSize
  }

  get bytes(): number {
    return this.#tiles.calculatedSize
  }

  /** Returns undefined if the tile is not cached, or must be checked again. */
  get(path: string, catalog: Catalog, nowMs: number): CachedTile | undefined {
    this.follow(catalog)
    const tile = this.#tiles.get(path)
    return tile !== undefined && nowMs < tile.lookAgainAtMs ? tile : undefined
  }

  /** @param catalog current snapshot, in which the tile's basemap has the same tiles as in that of its look-up */
  keep(path: string, catalog: Catalog, tile: CachedTile): void {
    this.follow(catalog)
    this.#tiles.set(path, tile)
    this.#basemaps.add(tile.basemap)
  }

  /** Must be called if its file differs from the cached one. */
  drop(path: string): void {
    this.#tiles.delete(path)
  }

  /** Drops the tiles of a basemap. */
  dropOf(code: string): void {
    for (const [path, { basemap }] of [...this.#tiles.entries()])
      if (basemap.stored.code === code) this.#tiles.delete(path)
  }

  /** Drops the tiles of the basemaps whose tiles differ in this snapshot. */
  follow(catalog: Catalog): void {
    if (catalog === this.#catalog) return
    this.#catalog = catalog
    for (const code of this.#basemaps.takeChanged(catalog)) this.dropOf(code)
  }

  /** Clears the cache and changes its capacity, because the rest of the memory is used elsewhere. */
  limitTo(capacityBytes: number): void {
    this.#tiles.clear()
    this.#tiles = tilesWithin(capacityBytes, this.#onEvicted)
  }
}

function tilesWithin(maxSize: number, onEvicted: () => void): LRUCache<string, CachedTile> {
  const openFileWeight = Math.floor(maxSize / MAX_OPEN_FILES)
  return new LRUCache({
    maxSize,
    sizeCalculation: ({ body }) => OVERHEAD_BYTES + (body instanceof OpenFile ? openFileWeight : body.length),
    dispose: ({ body }, _, reason) => {
      if (reason === 'evict') onEvicted()
      if (body instanceof OpenFile) body.retire()
    },
  })
}
