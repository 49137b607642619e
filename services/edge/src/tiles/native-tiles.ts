import fs from 'node:fs'
import { promisify } from 'node:util'
import { fileIdentity } from '@gateway/files/file-identity.js'
import type { HotTable } from '@gateway/sendfile/hot-table.js'
import type { Catalog, CatalogBasemap } from '../catalog/catalog.js'
import type { DiskGate } from '../files/disk-gate.js'
import { SERVER_MARK } from '../http/header-block.js'
import { type HotTile, RECHECK_MS } from './hot-tiles.js'
import type { TileFile } from './load-tile.js'

/** How often tiles whose time is over are looked for; those whose time ends within one such span leave together. */
export const SWEEP_MS = 250
/** Tiles leave so much before their time, so that a sweep that comes late still comes before it. */
const EARLY_MS = 500
/** Tiles in use are looked at so much before their time: a slow file system has the difference to answer. */
const LOOK_AHEAD_MS = 2_500
/** Times end up to so much sooner, by chance: tiles that came together, as after a start, would otherwise be looked at all at once. */
const SPREAD_MS = 3_000
/** Limit: tiles held, and tiles that wait to be looked at. Each costs some 200 bytes here. */
const MAX_TILES = 65_536

const statAsync = promisify(fs.stat) as (path: string, options: { bigint: true }) => Promise<fs.BigIntStats>

interface Held {
  /** in units of SWEEP_MS since 1970: at its beginning the tile must have been looked at, or be gone */
  span: number
  readonly basemap: CatalogBasemap
  /** null: it is from an archive, which changes only when a scan says so */
  readonly file: TileFile | null
}

/**
 * The tiles that the native table answers by itself, and when each must be looked at again. A tile in use whose file is still the same
 * stays; that is found out beside the event loop, one file at a time, and where it takes too long the tile leaves. So do tiles that
 * nobody asked for meanwhile, unless no file need be looked at.
 */
export class NativeTiles {
  readonly #table: HotTable
  readonly #held = new Map<string, Held>()
  readonly #due = new Map<number, string[]>()
  /** those of `#due` whose time has come */
  readonly #inQuestion = new Map<number, string[]>()
  /** by source, each of which is looked at by itself: one that does not answer keeps no other waiting */
  readonly #toLookAt = new Map<string, [path: string, held: Held, file: TileFile][]>()
  readonly #disks: DiskGate
  readonly #basemaps = new Map<string, CatalogBasemap>()

  constructor(table: HotTable, disks: DiskGate) {
    this.#table = table
    this.#disks = disks
  }

  /** Puts a tile that the snapshot of now has under this path. true: it was put, and `goodUntilMs` may be sooner than before. */
  put(path: string, body: Uint8Array, tile: HotTile, file: TileFile | null, nowMs: number): boolean {
    // What had to make room comes back with its next request: which tiles are wanted may change from one minute to the next.
    if (this.#held.has(path) ? this.#table.hasTile(path) : this.#held.size >= MAX_TILES) return false
    const { found, notModified, etag, gzip } = tile.answer
    const { code } = tile.basemap.stored
    this.#table.putTile({
      target: path,
      headers: [[found.name, found.value], SERVER_MARK],
      validator: { etag, headers: [[notModified.name, notModified.value], SERVER_MARK] },
      body,
      code,
      gzip,
    })
    const held = { span: 0, basemap: tile.basemap, file }
    this.#held.set(path, held)
    this.#hold(path, held, nowMs)
    this.#basemaps.set(code, tile.basemap)
    return true
  }

  /** Milliseconds since 1970: until then, and not beyond, any tile in the table may be sent. */
  get goodUntilMs(): number {
    return Math.min(...this.#due.keys(), ...this.#inQuestion.keys()) * SWEEP_MS
  }

  /** Looks at what must be looked at soon, and drops what should have been. */
  sweep(nowMs: number): void {
    for (const [span, paths] of startingBefore(nowMs + LOOK_AHEAD_MS, this.#due)) {
      this.#inQuestion.set(span, paths)
      for (const path of paths) this.#question(path, span, nowMs)
    }
    for (const [span, paths] of startingBefore(nowMs + EARLY_MS, this.#inQuestion)) {
      for (const path of paths) if (this.#held.get(path)?.span === span) this.#drop(path)
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

  /** Lets it stay for another while. */
  #hold(path: string, held: Held, nowMs: number): void {
    held.span = Math.floor((nowMs + RECHECK_MS - Math.random() * SPREAD_MS) / SWEEP_MS)
    const same = this.#due.get(held.span)
    if (same === undefined) this.#due.set(held.span, [path])
    else same.push(path)
  }

  #drop(path: string): void {
    this.#held.delete(path)
    this.#table.dropTile(path)
  }

  #question(path: string, span: number, nowMs: number): void {
    const held = this.#held.get(path)
    if (held?.span !== span) return
    const use = this.#table.takeUse(path)
    if (use === 'gone') this.#held.delete(path)
    else if (held.file === null) this.#hold(path, held, nowMs)
    else if (use === 'unused') this.#drop(path)
    else this.#lookAt(path, held, held.file)
  }

  #lookAt(path: string, held: Held, file: TileFile): void {
    const queue = this.#toLookAt.get(file.root)
    if (queue === undefined) {
      this.#toLookAt.set(file.root, [[path, held, file]])
      void this.#look(file.root)
    } else if (queue.length < MAX_TILES) queue.push([path, held, file])
  }

  async #look(root: string): Promise<void> {
    const queue = this.#toLookAt.get(root) ?? []
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [path, held, file] = next
      // It was dropped, or put anew, before its turn came.
      const isHeld = () => this.#held.get(path) === held
      if (!isHeld()) continue
      const same = await this.#isSame(file, isHeld)
      if (!isHeld()) continue
      if (same) this.#hold(path, held, Date.now())
      else this.#drop(path)
    }
    this.#toLookAt.delete(root)
  }

  async #isSame({ root, path, identity }: TileFile, isWanted: () => boolean): Promise<boolean> {
    try {
      const read = () => statAsync(path, { bigint: true })
      const stat = await this.#disks.run(root, { read, discard: () => {}, isWanted })
      return stat.ok && fileIdentity(stat.value) === identity
    } catch {
      return false // gone, or out of reach: the next request finds out
    }
  }
}

/** Takes out the spans that start before a time. */
function startingBefore(ms: number, spans: Map<number, string[]>): [number, string[]][] {
  const found = [...spans].filter(([span]) => span * SWEEP_MS <= ms)
  for (const [span] of found) spans.delete(span)
  return found
}
