import fs from 'node:fs'
import { promisify } from 'node:util'
import { fileIdentity } from '@gateway/core/files/open-below.js'
import type { ResponseTable } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { FileRange } from '@gateway/native-edge/hot-tiles/responses.js'
import type { TileFile } from '@gateway/tilesets/source.js'
import { SERVER_MARK } from '../answers/header-block.js'
import type { DiskGate } from '../files/disk-gate.js'
import type { Catalog } from '../sync/catalog.js'
import { CachedBasemaps } from '../tiles/cached-basemaps.js'
import { type CachedTile, RECHECK_MS } from '../tiles/tile-cache.js'
import { gridOf } from './touched-tiles.js'

/** Interval in ms at which due tiles are checked; tiles that are due within one such span are dropped together. */
export const SWEEP_MS = 250
/**
 * Time in ms by which tiles are dropped early, so that a late sweep is still in time: after a sweep that is too late, no tile would be answered
 * natively until the next one. With 10,000 busy connections a turn of the event loop takes half a second if their tiles are cold.
 */
const EARLY_MS = 1_500
/** Time in ms by which files are checked early; the difference is available to a slow file system. */
const CHECK_AHEAD_MS = 3_500
/** Range in ms of a random offset, so that tiles that were put together, for example after a start, are not all checked at once. */
const SPREAD_MS = 3_000
/** Limit: the table's bytes per tile held here: no tile takes less there with its heads. Each costs some 200 bytes here. */
const LEAST_BYTES = 1024

const statAsync = promisify(fs.stat) as (path: string, options: { bigint: true }) => Promise<fs.BigIntStats>

/**
 * Result of a put: `put`, the table has the tile now; `unwanted`, the tile should not be cached, here or elsewhere; `declined`, the table has it
 * already, or the limit of tiles is reached.
 */
export type Offered = 'put' | 'unwanted' | 'declined'

/** The file of a tile; null: the tile is part of an archive, which changes only when a scan says so. `isAging`: it is current for a time only. */
export interface OnDisk {
  readonly file: TileFile | null
  readonly isAging: boolean
}

interface Held extends OnDisk {
  /** In units of SWEEP_MS of `performance.now()`. At its beginning the tile must have been checked, or is dropped. */
  span: number
  readonly code: string
}

/**
 * The tiles in the native table, and the times at which their files must be checked again. A tile in use whose file is unchanged stays. The checks
 * run asynchronously, one file at a time for each source. A tile is dropped if its check takes too long, or if it was not used since the last check
 * and is not from an archive.
 */
export class PublishedTiles {
  readonly #table: ResponseTable
  readonly #held = new Map<string, Held>()
  readonly #due = new Map<number, string[]>()
  /** Spans taken from `#due` whose checks have begun. */
  readonly #checking = new Map<number, string[]>()
  /** Files to check, by source, so that a source that does not answer delays no other. */
  readonly #queues = new Map<string, [path: string, held: Held, file: TileFile][]>()
  readonly #disks: DiskGate
  readonly #basemaps = new CachedBasemaps()
  readonly #maxTiles: number

  constructor(table: ResponseTable, disks: DiskGate) {
    this.#table = table
    this.#disks = disks
    this.#maxTiles = Math.floor(table.capacityBytes / LEAST_BYTES)
  }

  /** Puts a tile that the current snapshot has under this path. After `put`, `goodUntilMs` may be sooner than before. */
  put(path: string, body: Uint8Array | FileRange, tile: CachedTile, { file, isAging }: OnDisk, nowMs: number): Offered {
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
      grid: gridOf(tile),
    })
    const held = { span: 0, code, file, isAging }
    this.#held.set(path, held)
    this.#hold(path, held, nowMs)
    this.#basemaps.add(tile.basemap)
    return 'put'
  }

  /** Time of `performance.now()` until which every tile in the table may be sent. */
  get goodUntilMs(): number {
    return Math.min(...this.#due.keys(), ...this.#checking.keys()) * SWEEP_MS
  }

  /** Checks the tiles that are due soon, and drops those that were not checked in time. */
  sweep(nowMs: number): void {
    for (const [span, paths] of startingBefore(nowMs + CHECK_AHEAD_MS, this.#due)) {
      this.#checking.set(span, paths)
      for (const path of paths) this.#recheck(path, span, nowMs)
    }
    for (const [span, paths] of startingBefore(nowMs + EARLY_MS, this.#checking)) {
      for (const path of paths) if (this.#held.get(path)?.span === span) this.#drop(path)
    }
  }

  /** Drops the tiles of the basemaps whose tiles differ in this snapshot. */
  follow(catalog: Catalog): void {
    for (const code of this.#basemaps.takeChanged(catalog)) this.dropOf(code)
  }

  /** Drops the tiles of a basemap. */
  dropOf(code: string): void {
    this.#table.dropTiles(code)
    for (const [path, held] of this.#held) if (held.code === code) this.#held.delete(path)
  }

  /** Keeps the tile until its next check. */
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
    else if (held.isAging) this.#drop(path)
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
      // It was dropped, or put again, before its turn.
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
      return false // deleted or unreachable: the next request finds out
    }
  }
}

/** Removes and returns the spans that start before a time. */
function startingBefore(ms: number, spans: Map<number, string[]>): [number, string[]][] {
  const found = [...spans].filter(([span]) => span * SWEEP_MS <= ms)
  for (const [span] of found) spans.delete(span)
  return found
}
