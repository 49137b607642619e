import { LRUCache } from 'lru-cache'
import { type Catalog, type CatalogBasemap, EMPTY_CATALOG } from '../sync/catalog.js'
import type { UsageName } from '../usage/usage-counts.js'
import { CachedBasemaps } from './cached-basemaps.js'
import { OpenFile } from './open-file.js'
import type { TileTarget } from './tile-target.js'

/** What an entry costs beside its body: address, header blocks, the cache's own books. */
const OVERHEAD_BYTES = 1_500
/** Limit: a large tile, whose descriptor alone is kept, counts so much that there are no more of them. */
const MAX_OPEN_FILES = 512
/**
 * How long a tile is served from memory without looking at its file again. Scans drop what they find changed at once; this bounds how
 * long a file that was replaced under a known name stays unseen.
 */
export const RECHECK_MS = 10_000

/** What the HTTP layer prepares of a tile, once. */
export interface TileAnswer {
  readonly etag: string
  readonly modifiedMs: number
  /** the stored bytes are gzip: clients that refuse it must not get them */
  readonly gzip: boolean
  readonly found: { readonly name: string; readonly value: string }
  readonly notModified: { readonly name: string; readonly value: string }
}

/** A tile with everything that a hit needs. Small ones have their bytes here, large ones their open file. */
export class CachedTile {
  readonly body: Uint8Array | OpenFile
  readonly answer: TileAnswer
  readonly basemap: CatalogBasemap
  /** what answers with it are accounted to */
  readonly usage: UsageName
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
    this.lookAgainAtMs = nowMs + RECHECK_MS
  }
}

/** Tiles in memory, by the path of their address as it came. A basemap's tiles leave when the catalog says something else of them. */
export class TileCache {
  #tiles: LRUCache<string, CachedTile>
  #catalog: Catalog = EMPTY_CATALOG
  readonly #basemaps = new CachedBasemaps()
  readonly #onEvicted: () => void

  /** Limit: bytes of tiles. @param onEvicted called for each tile that had to make room */
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

  /** undefined: not kept, or kept too long to be sure of it. */
  get(path: string, catalog: Catalog, nowMs: number): CachedTile | undefined {
    this.follow(catalog)
    const tile = this.#tiles.get(path)
    return tile !== undefined && nowMs < tile.lookAgainAtMs ? tile : undefined
  }

  /** @param catalog the snapshot of now, in which the tile's basemap has the same tiles as in that by which it was looked up */
  keep(path: string, catalog: Catalog, tile: CachedTile): void {
    this.follow(catalog)
    this.#tiles.set(path, tile)
    this.#basemaps.add(tile.basemap)
  }

  /** Its file turned out to be another than was kept. */
  drop(path: string): void {
    this.#tiles.delete(path)
  }

  /** Drops the tiles of the basemaps whose tiles are not the same in this snapshot. */
  follow(catalog: Catalog): void {
    if (catalog === this.#catalog) return
    this.#catalog = catalog
    const changed = this.#basemaps.takeChanged(catalog)
    if (changed.size === 0) return
    const stale = [...this.#tiles.entries()].filter(([, { basemap }]) => changed.has(basemap.stored.code))
    for (const [path] of stale) this.#tiles.delete(path)
  }

  /** Begins anew with another capacity, where the rest of the memory is used elsewhere. */
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
