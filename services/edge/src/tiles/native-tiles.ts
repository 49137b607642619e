import type { HotTable } from '@gateway/sendfile/hot-table.js'
import type { Catalog, CatalogBasemap } from '../catalog/catalog.js'
import type { HotTile } from './hot-tiles.js'

/** How often expired tiles are looked for; tiles that expire within one such span are dropped together. */
export const SWEEP_MS = 250
/** Tiles leave so much before their time, so that a sweep that comes late still comes before it. */
const EARLY_MS = 500
/** Limit: tiles that are put in the time that one of them stays; each costs about 150 bytes here, whatever the table has evicted. */
const MAX_TILES = 65_536

/**
 * The tiles that the native table answers by itself, and when each must be looked at again. What the table evicts of its own accord
 * counts as held here until then: so a table that is too small is not filled over and over.
 */
export class NativeTiles {
  readonly #table: HotTable
  /** by address, the span of time (a multiple of SWEEP_MS) at whose beginning it must be gone */
  readonly #held = new Map<string, number>()
  readonly #bySpan = new Map<number, string[]>()
  readonly #basemaps = new Map<string, CatalogBasemap>()

  constructor(table: HotTable) {
    this.#table = table
  }

  /** Puts a tile that is current in the snapshot of now. true: it was put, and `goodUntilMs` may be sooner than before. */
  put(path: string, tile: HotTile, nowMs: number): boolean {
    if (this.#held.has(path) || this.#held.size >= MAX_TILES) return false
    const span = Math.floor(tile.lookAgainAtMs / SWEEP_MS)
    if (span * SWEEP_MS <= nowMs + EARLY_MS) return false
    const { found, gzip } = tile.answer
    const { code } = tile.basemap.stored
    this.#table.putTile({ target: path, headers: [[found.name, found.value], SERVER_MARK], body: tile.body, code, gzip })
    this.#held.set(path, span)
    this.#basemaps.set(code, tile.basemap)
    const same = this.#bySpan.get(span)
    if (same === undefined) this.#bySpan.set(span, [path])
    else same.push(path)
    return true
  }

  /** Milliseconds since 1970: until then, and not beyond, every tile in the table may be answered. */
  get goodUntilMs(): number {
    return Math.min(...this.#bySpan.keys()) * SWEEP_MS
  }

  /** Drops what must be looked at again soon. */
  sweep(nowMs: number): void {
    for (const [span, paths] of this.#bySpan) {
      if (span * SWEEP_MS > nowMs + EARLY_MS) continue
      this.#bySpan.delete(span)
      for (const path of paths) {
        if (this.#held.get(path) !== span) continue
        this.#held.delete(path)
        this.#table.dropTile(path)
      }
    }
  }

  /** Drops the tiles of every basemap that is not the same in this snapshot, whatever changed about it. */
  follow(catalog: Catalog): void {
    for (const [code, basemap] of this.#basemaps) if (catalog.basemaps.get(code) !== basemap) this.#dropBasemap(code)
  }

  #dropBasemap(code: string): void {
    this.#table.dropTiles(code)
    this.#basemaps.delete(code)
  }
}
