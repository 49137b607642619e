import { LRUCache } from 'lru-cache'
import { type Catalog, type CatalogBasemap, EMPTY_CATALOG } from '../catalog/catalog.js'
import { OpenFile } from './open-file.js'

/**
 * Limit: bytes of tile bodies that one process keeps in memory. A few thousand tiles make up most of a map's traffic. A cache of lru-cache:
 * a plain Map with CLOCK is no faster by more than 0.2 % of a request (bench/micro/tile-cache.mjs).
 */
export const MAX_BYTES = 128 * 1024 * 1024
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
export class HotTile {
  readonly body: Uint8Array | OpenFile
  readonly answer: TileAnswer
  readonly basemap: CatalogBasemap
  readonly lookAgainAtMs: number

  constructor(body: Uint8Array | OpenFile, answer: TileAnswer, basemap: CatalogBasemap, nowMs: number) {
    this.body = body
    this.answer = answer
    this.basemap = basemap
    this.lookAgainAtMs = nowMs + RECHECK_MS
  }
}

/** Tiles at hand, by the path of their address as it came. All of them were resolved by one snapshot of the catalog; another one must resolve them again. */
export class HotTiles {
  #tiles = tilesWithin(MAX_BYTES)
  #catalog: Catalog = EMPTY_CATALOG

  get bytes(): number {
    return this.#tiles.calculatedSize
  }

  /** undefined: not kept, or kept too long to be sure of it. */
  get(path: string, catalog: Catalog, nowMs: number): HotTile | undefined {
    if (catalog !== this.#catalog) return undefined
    const tile = this.#tiles.get(path)
    return tile !== undefined && nowMs < tile.lookAgainAtMs ? tile : undefined
  }

  keep(path: string, catalog: Catalog, tile: HotTile): void {
    if (catalog !== this.#catalog) {
      this.#tiles.clear()
      this.#catalog = catalog
    }
    this.#tiles.set(path, tile)
  }

  /** Its file turned out to be another than was kept. */
  drop(path: string): void {
    this.#tiles.delete(path)
  }

  /** Begins anew within less than MAX_BYTES, where a part of them is used elsewhere. */
  limitTo(bytes: number): void {
    this.#tiles.clear()
    this.#tiles = tilesWithin(bytes)
  }
}

function tilesWithin(maxSize: number): LRUCache<string, HotTile> {
  const openFileWeight = Math.floor(maxSize / MAX_OPEN_FILES)
  return new LRUCache({
    maxSize,
    sizeCalculation: ({ body }) => OVERHEAD_BYTES + (body instanceof OpenFile ? openFileWeight : body.length),
    dispose: ({ body }) => {
      if (body instanceof OpenFile) body.drop()
    },
  })
}
