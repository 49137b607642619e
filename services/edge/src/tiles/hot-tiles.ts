import { LRUCache } from 'lru-cache'
import type { Catalog, CatalogBasemap, CatalogVersion } from '../catalog/catalog.js'

/** Limit: bytes of tile bodies that one process keeps in memory. A few thousand tiles make up most of a map's traffic. */
const MAX_BYTES = 128 * 1024 * 1024
/** What an entry costs beside its body: address, header blocks, the cache's own books. */
const OVERHEAD_BYTES = 1_500
/**
 * How long a tile is served from memory without looking at its file again. Scans drop what they find changed at once; this bounds how
 * long a file that was replaced under a known name stays unseen.
 */
const RECHECK_MS = 10_000

/** What the HTTP layer prepares of a tile, once. */
export interface TileAnswer {
  readonly etag: string
  readonly modifiedMs: number
  /** the stored bytes are gzip: clients that refuse it must not get them */
  readonly gzip: boolean
  readonly found: { readonly name: string; readonly value: string }
  readonly notModified: { readonly name: string; readonly value: string }
}

export interface HotTile {
  readonly body: Uint8Array
  readonly answer: TileAnswer
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
  /** the snapshot by which the address was resolved; another one must resolve it again */
  readonly catalog: Catalog
  readonly lookAgainAtMs: number
}

/** Small tiles in memory, by the path of their address as it came. */
export class HotTiles {
  readonly #tiles = new LRUCache<string, HotTile>({
    maxSize: MAX_BYTES,
    sizeCalculation: (tile) => tile.body.length + OVERHEAD_BYTES,
  })

  get bytes(): number {
    return this.#tiles.calculatedSize
  }

  /** undefined: not kept, or kept too long to be sure of it. */
  get(path: string, catalog: Catalog, nowMs: number): HotTile | undefined {
    const tile = this.#tiles.get(path)
    if (tile === undefined || tile.catalog !== catalog || nowMs >= tile.lookAgainAtMs) return undefined
    return tile
  }

  keep(path: string, tile: Omit<HotTile, 'lookAgainAtMs'>, nowMs: number): void {
    this.#tiles.set(path, { ...tile, lookAgainAtMs: nowMs + RECHECK_MS })
  }

  clear(): void {
    this.#tiles.clear()
  }
}
