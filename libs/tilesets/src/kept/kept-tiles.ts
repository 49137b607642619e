import { createHash } from 'node:crypto'
import path from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { takeHostLock } from '@gateway/core/files/host-lock.js'
import { LRUCache } from 'lru-cache'
import { flipRow } from '../address.js'
import type { BlockCache } from '../remote/block-cache.js'
import type { Asking, CachedReader, Source, SourceLayout, SourceSpec, Tile, TilePlace } from '../source.js'
import { type Found, inFolder, KeptFiles, type Validators } from './kept-files.js'
import { TileNotMade } from './tile-not-made.js'

/** Limits for one set in a process: tiles known to be absent, and tiles known to be on disk. */
const MAX_ABSENT = 20_000
const MAX_HERE = 20_000
/** Interval at which a tile that another process of the host makes is looked for. */
const LOOK_AGAIN_MS = 25
/** Time limit of waiting for another process; its own limits end its work before. */
const PATIENCE_MS = 30_000
/** Attempts to return a tile that is evicted, or replaced, between two steps. */
const MAX_ATTEMPTS = 3

/** A tile that a maker has made. Without `modifiedMs` it is of now, without `etag` its bytes identify it. */
export interface MadeTile {
  readonly place: TilePlace
  readonly bytes: Uint8Array
  readonly etag?: string | null
  /** milliseconds since 1970 */
  readonly modifiedMs?: number | null
}

/**
 * Result of a maker: tiles of the square around the place that was asked for, which is absent if it is not among them; `unchanged`: the content with
 * the known validators is current; `absent`: there is no such tile.
 */
export type Made = readonly MadeTile[] | 'unchanged' | 'absent'

/** The facts that a maker may need, apart from the place. */
export interface Making extends Asking {
  /** of the content that is kept, but old; null: none is kept, or the tile is one of a square */
  readonly known: Validators | null
  /** aborted when the set is closed */
  readonly signal: AbortSignal
}

/** Makes a tile, or the square of tiles around it. Rejects with `TileNotMade`, or with other errors, which the edge answers as it does for any set. */
export type Make = (place: TilePlace, making: Making) => Promise<Made>

export interface KeptTilesOptions {
  /** identifies the content over restarts; tiles that are kept under another key are not found. No credentials: its digest is the folder's name */
  readonly key: string
  readonly format: SourceSpec['format']
  /** of the files, for example `png`; the first bytes of a tile decide about its type */
  readonly extension: string
  /** `tms`: rows of the files' names are counted from the south, as in earlier releases. Default: `xyz` */
  readonly rows?: 'xyz' | 'tms'
  readonly cache: BlockCache
  /** null: unavailable */
  readonly cached: CachedReader | null
  readonly make: Make
  /** time for which a kept tile is current; after it, the maker is asked with the validators of the kept tile */
  readonly ttlMs: number
  /** age up to which an old tile is sent if the maker fails; Infinity: any; 0: none */
  readonly staleMs: number
  /** time for which a tile that does not exist is not asked for again */
  readonly absentMs: number
  /** tiles in a row of the squares that are made at once, a power of two. Default: 1 */
  readonly squareTiles?: number
  /** false if `Validators.hasTag` is enough for the maker; otherwise each tag takes a separate file. Default: true */
  readonly keepsTags?: boolean
  /** tells responses how long they are current (`Tile.currentForSeconds`) and that they are old (`Tile.isStale`). Default: true */
  readonly tellsAge?: boolean
  /** returns the time, in ms since 1970, from before which a kept tile is old at this place. Default: none */
  readonly oldBeforeMs?: (place: TilePlace) => number
  /** the largest of these times at any place. Absent: files are not read by others, which cannot tell */
  readonly allOldBeforeMs?: number
}

/**
 * Tiles that are fetched or made at their first request, and kept as files of the cache on disk (`TILE_CACHE_DIR`), within its limit. A tile, or its
 * square, is made once at a time in the whole host, whatever number of requests and processes wait for it. Files are complete or absent, whenever a
 * process is killed. If the disk is full or refuses, tiles are made and not kept.
 */
export class KeptTiles implements Source {
  readonly #options: KeptTilesOptions
  readonly #files: KeptFiles
  readonly #folder: string
  readonly #absent: LRUCache<string, true>
  /** tiles that are on disk, with the time of `performance.now()` until which they are current */
  readonly #here = new LRUCache<string, number>({ max: MAX_HERE })
  readonly #making = new Map<string, { readonly askings: Asking[]; readonly result: Promise<Finished> }>()
  readonly #writing = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()

  constructor(options: KeptTilesOptions) {
    this.#options = options
    const { cache, cached, format, key } = options
    this.#folder = folderOfKey(cache.directory, key)
    this.#files = new KeptFiles(this.#folder, format, cache, cached)
    this.#absent = new LRUCache({ max: MAX_ABSENT, ttl: Math.max(1, options.absentMs) })
  }

  async tile(place: TilePlace, asking: Asking = ANYBODY): Promise<Tile | null> {
    const name = this.#nameOf(place)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (this.#absent.has(name)) return null
      const current = await this.#current(place)
      if (current !== undefined) return current
      try {
        const made = await this.#makeOnce(place, asking)
        if (made instanceof Map) return made.get(name) ?? null
        const renewed = made === 'unchanged' ? await this.#files.read(name) : null
        if (renewed?.kind === 'tile') return this.#told(renewed.tile, this.#options.ttlMs)
      } catch (error) {
        return await this.#stale(name, error)
      }
    }
    throw new TileNotMade(503, coded('tile_not_made'))
  }

  tileIfCached(place: TilePlace): Tile | null | undefined {
    const name = this.#nameOf(place)
    const until = this.#here.get(name)
    if (until === undefined) return this.#absent.has(name) ? null : undefined
    const leftMs = until - performance.now()
    const tile = leftMs > 0 ? this.#files.readIfCached(name) : undefined
    // An evicted tile is made again.
    return tile === undefined ? undefined : this.#told(tile, leftMs)
  }

  layout(): SourceLayout | null {
    const { extension, allOldBeforeMs, ttlMs, cache, tellsAge } = this.#options
    if (allOldBeforeMs === undefined || tellsAge === false || !cache.mayFill) return null
    const kept = { ttlMs, oldBeforeMs: allOldBeforeMs }
    return { kind: 'folder', form: 'xyz', folder: this.#folder, extension, fromSouth: false, levels: null, kept }
  }

  /** Ends the work for tiles that nobody else makes; the promises of their callers reject. */
  close(): void {
    this.#closing.abort()
  }

  /** Resolves when the tiles that were made so far are on the disk, or cannot be written. */
  async written(): Promise<void> {
    await Promise.all(this.#writing.values())
  }

  #nameOf({ z, x, y, suffix = '' }: TilePlace): string {
    const { extension, rows } = this.#options
    return `${z}/${x}/${rows === 'tms' ? flipRow(z, y) : y}${suffix}.${extension}`
  }

  /** undefined: neither a tile nor its absence is known, or it is old */
  async #current(place: TilePlace): Promise<Tile | null | undefined> {
    return this.#currentOf(place, await this.#files.read(this.#nameOf(place)))
  }

  /** Like `#current`, of the file that was found. */
  #currentOf(place: TilePlace, found: Found | null): Tile | null | undefined {
    const name = this.#nameOf(place)
    const { absentMs, ttlMs, oldBeforeMs, cache } = this.#options
    if (found === null) return undefined
    const leftMs = (found.kind === 'absent' ? absentMs : ttlMs) - found.ageMs
    // biome-ignore lint/plugin: calendar, of files
    const isOld = leftMs <= 0 || Date.now() - found.ageMs < (oldBeforeMs?.(place) ?? 0)
    if (isOld) {
      if (found.kind === 'tile') release(found.tile)
      return undefined
    }
    if (found.kind === 'absent') {
      this.#absent.set(name, true, { ttl: leftMs })
      return null
    }
    cache.counts.hits++
    this.#here.set(name, performance.now() + leftMs)
    return this.#told(found.tile, leftMs)
  }

  async #stale(name: string, error: unknown): Promise<Tile> {
    const found = await this.#files.read(name)
    if (found?.kind !== 'tile') throw error
    const { staleMs, tellsAge = true } = this.#options
    if (found.ageMs <= staleMs) return { ...this.#told(found.tile, 0), isStale: tellsAge }
    release(found.tile)
    throw error
  }

  #told(tile: Tile, leftMs: number): Tile {
    if (this.#options.tellsAge === false) return tile
    return { ...tile, currentForSeconds: Math.max(0, Math.floor(leftMs / 1000)) }
  }

  /** Lets concurrent requests for a square share its making. */
  #makeOnce(place: TilePlace, asking: Asking): Promise<Finished> {
    const { squareTiles = 1 } = this.#options
    const { z, x, y, suffix = '' } = place
    const square = `${z}-${x - (x % squareTiles)}-${y - (y % squareTiles)}${suffix}`
    const running = this.#making.get(square)
    if (running !== undefined) {
      running.askings.push(asking)
      return running.result
    }
    const askings = [asking]
    const isWanted = () => askings.some((one) => one.isWanted())
    const result = this.#makeLocked(square, place, { caller: asking.caller, isWanted })
    this.#making.set(square, { askings, result })
    const forget = () => void this.#making.delete(square)
    // Later callers must find the files.
    result.then(() => this.#writing.get(square)).then(forget, forget)
    return result
  }

  async #makeLocked(square: string, place: TilePlace, asking: Asking): Promise<Finished> {
    const unlock = await this.#lock(square, place)
    if (unlock === null) return 'look'
    let writing: Promise<unknown> = Promise.resolve()
    try {
      // Another process may have made it between the look and the lock.
      const found = await this.#files.read(this.#nameOf(place))
      const current = this.#currentOf(place, found)
      if (current instanceof Object) release(current)
      if (current !== undefined) return 'look'
      const tiles = await this.#make(place, asking, found !== null)
      if (tiles === 'unchanged') return tiles
      writing = Promise.all([...tiles].map(([name, tile]) => this.#keep(name, tile)))
      return new Map([...tiles].flatMap(([name, { tile }]) => (tile === null ? [] : [[name, tile] as const])))
    } finally {
      // The response does not wait for the disk; other processes do.
      const done = writing.then(unlock, unlock).then(() => void this.#writing.delete(square))
      this.#writing.set(square, done)
    }
  }

  async #make(place: TilePlace, asking: Asking, isKept: boolean): Promise<ReadonlyMap<string, ToKeep> | 'unchanged'> {
    const { make, cache, squareTiles = 1, keepsTags = true, ttlMs } = this.#options
    const name = this.#nameOf(place)
    cache.counts.misses++
    const known = squareTiles > 1 || !isKept ? null : await this.#files.validatorsOf(name)
    const making = { ...asking, signal: this.#closing.signal }
    let made = await make(place, { ...making, known })
    if (made === 'unchanged' && (await this.#files.renew(name))) return 'unchanged'
    // The kept tile was evicted meanwhile, or the disk refuses.
    if (made === 'unchanged') made = await make(place, { ...making, known: null })
    const tiles = new Map<string, ToKeep>([[name, ABSENT]])
    for (const one of typeof made === 'string' ? [] : made) {
      if (one.bytes.length === 0) continue
      const its = this.#nameOf(one.place)
      const isNew = squareTiles === 1 && known === null
      const modified = await this.#files.modifiedFor(its, one, isNew)
      cache.counts.fetchedBytes += one.bytes.length
      const tile = this.#told(this.#files.toTile(one.bytes, modified), ttlMs)
      tiles.set(its, { tile, bytes: one.bytes, modified, etag: keepsTags ? (one.etag ?? null) : null })
    }
    return tiles
  }

  async #keep(name: string, { tile, bytes, modified, etag }: ToKeep): Promise<void> {
    const { absentMs, ttlMs } = this.#options
    if (tile === null && absentMs > 0) this.#absent.set(name, true)
    const isKept = await this.#files.write(name, bytes, modified, etag)
    if (isKept && tile !== null) this.#here.set(name, performance.now() + ttlMs)
  }

  /** Returns a function that ends the lock; null: another process has made the tile. Without a disk, or with one that refuses, there is no lock. */
  async #lock(square: string, place: TilePlace): Promise<(() => Promise<void>) | null> {
    const { cache } = this.#options
    if (!cache.mayFill) return async () => {}
    const end = performance.now() + PATIENCE_MS
    const isDone = async () => {
      if (performance.now() > end) throw new TileNotMade(504, coded('tile_not_made'))
      const current = await this.#current(place)
      if (current instanceof Object) release(current)
      return current !== undefined
    }
    try {
      const lock = path.join(this.#folder, `.${square}.lock`)
      return await inFolder(this.#folder, () => takeHostLock(lock, isDone, LOOK_AGAIN_MS))
    } catch (error) {
      if (error instanceof TileNotMade) throw error
      cache.failed(error)
      return async () => {}
    }
  }
}

/** Returns the folder of the tiles that are kept under a key. */
export function folderOfKey(cacheDirectory: string, key: string): string {
  return path.join(cacheDirectory, createHash('sha256').update(key).digest('hex').slice(0, 32))
}

/** Tiles by their names; `look`: another process has made the tile; `unchanged`: that of the disk is current. */
type Finished = Map<string, Tile> | 'look' | 'unchanged'

interface ToKeep {
  /** null: there is no such tile */
  readonly tile: Tile | null
  readonly bytes: Uint8Array | null
  readonly modified: bigint
  readonly etag: string | null
}

const ABSENT: ToKeep = { tile: null, bytes: null, modified: 0n, etag: null }
const ANYBODY: Asking = { caller: '', isWanted: () => true }

function release({ body }: Tile): void {
  if (!(body instanceof Uint8Array)) body.release()
}
