import type { HotTable } from '@gateway/sendfile/hot-table.js'
import type { Catalog, CatalogBasemap } from '../catalog/catalog.js'
import type { HotTile } from './hot-tiles.js'

/** How often tiles whose time is over are looked for; those whose time ends within one such span leave together. */
export const SWEEP_MS = 250
/** Tiles leave so much before their time, so that a sweep that comes late still comes before it. */
const EARLY_MS = 500
/** And each up to so much sooner, by chance: tiles that came together, as after a start, would otherwise be loaded again all at once. */
const SPREAD_MS = 3_000
/** Limit: tiles put within the time that one of them stays. Each costs some 150 bytes here, even where the table has evicted it. */
const MAX_TILES = 65_536
/** What uWebSockets.js adds to each of its answers, beside the date and the length: nobody can tell who answered. */
const SERVER_MARK = ['uWebSockets', '20'] as const

interface Held {
  /** in units of SWEEP_MS since 1970: at its beginning the tile must be gone */
  readonly span: number
  readonly basemap: CatalogBasemap
}

/**
 * The tiles that the native table answers by itself, and when each must be looked at again. What the table evicts of its own accord
 * counts as held until then: so a table that is too small is not filled over and over.
 */
export class NativeTiles {
  readonly #table: HotTable
  readonly #held = new Map<string, Held>()
  readonly #bySpan = new Map<number, string[]>()
  readonly #basemaps = new Map<string, CatalogBasemap>()

  constructor(table: HotTable) {
    this.#table = table
  }

  /** Puts a tile that the snapshot of now has under this path. true: it was put, and `goodUntilMs` may be sooner than before. */
  put(path: string, body: Uint8Array, tile: HotTile, nowMs: number): boolean {
    if (this.#held.has(path) || this.#held.size >= MAX_TILES) return false
    const span = Math.floor((tile.lookAgainAtMs - Math.random() * SPREAD_MS) / SWEEP_MS)
    if (span * SWEEP_MS <= nowMs + EARLY_MS) return false
    const { found, gzip } = tile.answer
    const { code } = tile.basemap.stored
    const headers = [[found.name, found.value] as const, SERVER_MARK]
    this.#table.putTile({ target: path, headers, body, code, gzip })
    this.#held.set(path, { span, basemap: tile.basemap })
    this.#basemaps.set(code, tile.basemap)
    const same = this.#bySpan.get(span)
    if (same === undefined) this.#bySpan.set(span, [path])
    else same.push(path)
    return true
  }

  /** Milliseconds since 1970: until then, and not beyond, any tile in the table may be sent. */
  get goodUntilMs(): number {
    return Math.min(...this.#bySpan.keys()) * SWEEP_MS
  }

  /** Drops what must be looked at again soon. */
  sweep(nowMs: number): void {
    for (const [span, paths] of this.#bySpan) {
      if (span * SWEEP_MS > nowMs + EARLY_MS) continue
      this.#bySpan.delete(span)
      for (const path of paths) {
        if (this.#held.get(path)?.span !== span) continue
        this.#held.delete(path)
        this.#table.dropTile(path)
      }
    }
  }

  /** Drops the tiles of every basemap that is not the same in this snapshot, whatever changed about it. */
  follow(catalog: Catalog): void {
    for (const [code, basemap] of this.#basemaps) {
      if (catalog.basemaps.get(code) === basemap) continue
      this.#table.dropTiles(code)
      this.#basemaps.delete(code)
      for (const [path, held] of this.#held) if (held.basemap === basemap) this.#held.delete(path)
    }
  }
}
