import fs from 'node:fs'
import { promisify } from 'node:util'
import { fileIdentity } from '@gateway/core/files/file-identity.js'
import type { FileRange, ResponseTable } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { TileFile } from '@gateway/tilesets/source.js'
import type { DiskGate } from '../files/disk-gate.js'
import { SERVER_MARK } from '../http/header-block.js'
import type { Catalog } from '../sync/catalog.js'
import { CachedBasemaps } from '../tiles/cached-basemaps.js'
import { type CachedTile, RECHECK_MS } from '../tiles/tile-cache.js'

/** How often due tiles are looked for; those that are due within one such span are dropped together. */
export const SWEEP_MS = 250
/**
 * Tiles are dropped so much before their time, so that a late sweep still comes before it: were it too late, no tile would be answered natively until
 * then. With 10,000 busy connections a turn of the event loop takes half a second where their tiles are cold.
 */
const EARLY_MS = 1_500
/** Files are checked so much before their time: a slow file system has the difference to answer. */
const CHECK_AHEAD_MS = 3_500
/** Times are spread at random: tiles that came together, as after a start, would otherwise be checked all at once. */
const SPREAD_MS = 3_000
/** Limit: tiles held here, one for so many bytes of the table: with its heads no tile takes less there. Each costs some 200 bytes here. */
const LEAST_BYTES = 1024

const statAsync = promisify(fs.stat) as (path: string, options: { bigint: true }) => Promise<fs.BigIntStats>

/** What became of a tile: the table has it now; it need not be kept, here nor elsewhere; or the table has it already, or no room in its books. */
export type Offered = 'put' | 'unwanted' | 'declined'

interface Held {
  /** in units of SWEEP_MS, by `performance.now()`: at its beginning the tile must have been checked, or be dropped */
  span: number
  readonly code: string
  /** null: it is from an archive, which changes only when a scan says so */
  readonly file: TileFile | null
}

/**
 * The tiles in the native table, and when the file of each must be checked again. A tile in use whose file is unchanged stays; the check
 * runs next to the event loop, one file at a time for each source, and where it takes too long the tile is dropped. So is a tile that was not
 * used since the last check, unless it is from an archive.
 */
export class PublishedTiles {
  readonly #table: ResponseTable
  readonly #held = new Map<string, Held>()
  readonly #due = new Map<number, string[]>()
  /** spans taken out of `#due`, whose checks have begun */
  readonly #checking = new Map<number, string[]>()
  /** files to check, by source: one that does not answer delays no other */
  readonly #queues = new Map<string, [path: string, held: Held, file: TileFile][]>()
  readonly #disks: DiskGate
  readonly #basemaps = new CachedBasemaps()
  readonly #maxTiles: number

  constructor(table: ResponseTable, disks: DiskGate) {
    this.#table = table
    this.#disks = disks
    this.#maxTiles = Math.floor(table.capacityBytes / LEAST_BYTES)
  }

  /** Puts a tile that the snapshot of now has under this path. `put`: `goodUntilMs` may be sooner than before. */
  put(path: string, body: Uint8Array | FileRange, tile: CachedTile, file: TileFile | null, nowMs: number): Offered {
    if (this.#held.size >= this.#maxTiles && !this.#held.has(path)) return 'declined'
    if (this.#table.hasTile(path)) return 'declined'
    if (!this.#table.isWanted(path, body.length)) return 'unwanted'
    const { found, notModified, etag, modifiedMs, gzip } = tile.answer
    const { code } = tile.basemap.stored
    this.#table.putTile({
      target: path,
      headers: [[found.name, found.value], SERVER_MARK],
      validator: { etag, modifiedMs, headers: [[notModified.name, notModified.value], SERVER_MARK] },
      body,
      code,
      gzip,
      usage: tile.usage,
    })
    const held = { span: 0, code, file }
    this.#held.set(path, held)
    this.#hold(path, held, nowMs)
    this.#basemaps.add(tile.basemap)
    return 'put'
  }

  /** By `performance.now()`: until then, and not beyond, any tile in the table may be sent. */
  get goodUntilMs(): number {
    return Math.min(...this.#due.keys(), ...this.#checking.keys()) * SWEEP_MS
  }

  /** Checks what is due soon, and drops what was not checked in time. */
  sweep(nowMs: number): void {
    for (const [span, paths] of startingBefore(nowMs + CHECK_AHEAD_MS, this.#due)) {
      this.#checking.set(span, paths)
      for (const path of paths) this.#recheck(path, span, nowMs)
    }
    for (const [span, paths] of startingBefore(nowMs + EARLY_MS, this.#checking)) {
      for (const path of paths) if (this.#held.get(path)?.span === span) this.#drop(path)
    }
  }

  /** Drops the tiles of the basemaps whose tiles are not the same in this snapshot. */
  follow(catalog: Catalog): void {
    const changed = this.#basemaps.takeChanged(catalog)
    if (changed.size === 0) return
    for (const code of changed) this.#table.dropTiles(code)
    for (const [path, { code }] of this.#held) if (changed.has(code)) this.#held.delete(path)
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

  #recheck(path: string, span: number, nowMs: number): void {
    const held = this.#held.get(path)
    if (held?.span !== span) return
    const use = this.#table.takeUse(path)
    if (use === 'gone') this.#held.delete(path)
    else if (held.file === null) this.#hold(path, held, nowMs)
    else if (use === 'unused') this.#drop(path)
    else this.#enqueue(path, held, held.file)
  }

  #enqueue(path: string, held: Held, file: TileFile): void {
    const queue = this.#queues.get(file.root)
    if (queue === undefined) {
      this.#queues.set(file.root, [[path, held, file]])
      void this.#checkFiles(file.root)
    } else if (queue.length < this.#maxTiles) queue.push([path, held, file])
  }

  async #checkFiles(root: string): Promise<void> {
    const queue = this.#queues.get(root) ?? []
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [path, held, file] = next
      // It was dropped, or put anew, before its turn came.
      const isHeld = () => this.#held.get(path) === held
      if (!isHeld()) continue
      const same = await this.#isSame(file, isHeld)
      if (!isHeld()) continue
      if (same) this.#hold(path, held, performance.now())
      else this.#drop(path)
    }
    this.#queues.delete(root)
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
