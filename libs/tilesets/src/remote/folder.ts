import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { temporaryNameBeside } from '@gateway/core/files/write-atomically.js'
import { ObjectMissing, ObjectRefused, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import { LRUCache } from 'lru-cache'
import { flipRow } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { fileExtensions, kindOf } from '../formats.js'
import type { Source, SourceSpec, Tile, TilePlace } from '../source.js'
import { microsecondsOf, secondsFor } from './file-time.js'
import type { RemoteObject } from './object-reader.js'
import type { RemoteReading } from './pmtiles.js'

/** Maximum bytes of one tile. */
const MAX_TILE_BYTES = 32 * 1024 * 1024
/** Time for which a local copy counts as current, and after which a replaced tile is noticed. */
const RECHECK_MS = 3_600_000
/** Time for which an absent tile is not requested again. */
const ABSENT_MS = 30_000
/** Limits for one version: tiles known to be absent, and tiles known to be on disk. */
const MAX_ABSENT = 20_000
const MAX_HERE = 20_000

/** A folder of tiles in a store. Each tile is an object, and is cached as a file. `object.key`: the folder. */
export function openRemoteFolder(spec: SourceSpec, object: RemoteObject, reading: RemoteReading): Source {
  return new RemoteFolder(spec, object, reading)
}

class RemoteFolder implements Source {
  readonly #spec: SourceSpec
  /** extensions of the objects' names; several if the set has several formats */
  readonly #extensions: readonly string[]
  readonly #object: RemoteObject
  readonly #reading: RemoteReading
  readonly #directory: string
  readonly #absent = new LRUCache<string, true>({ max: MAX_ABSENT, ttl: ABSENT_MS })
  /** tiles on disk that this source found to be current; the source lives no longer than `RECHECK_MS` */
  readonly #here = new LRUCache<string, true>({ max: MAX_HERE })
  readonly #timer: NodeJS.Timeout

  constructor(spec: SourceSpec, object: RemoteObject, reading: RemoteReading) {
    this.#spec = spec
    this.#extensions = fileExtensions(spec)
    this.#object = object
    this.#reading = reading
    const name = createHash('sha256')
      .update(`${object.store.url}/${object.key}\n${spec.content ?? ''}`)
      .digest('hex')
    this.#directory = path.join(reading.cache.directory, name.slice(0, 32))
    // Copies in other caches are requested again, and so checked.
    this.#timer = setInterval(reading.onReplaced, RECHECK_MS).unref()
  }

  async tile(place: TilePlace): Promise<Tile | null> {
    for (const extension of this.#extensions) {
      const tile = await this.#find(this.#nameOf(place, extension))
      if (tile !== null) return tile
    }
    return null
  }

  async #find(name: string): Promise<Tile | null> {
    if (this.#absent.has(name)) return null
    const kept = await this.#readKept(name)
    if (kept !== null && !kept.isOld) {
      this.#reading.cache.counts.hits++
      this.#here.set(name, true)
      return kept.tile
    }
    try {
      return await this.#ask(name, kept?.tile ?? null)
    } catch (error) {
      // The state of the last check.
      if (kept !== null && (error instanceof ObjectStoreTrouble || error instanceof ObjectRefused)) return kept.tile
      throw error
    }
  }

  tileIfCached(place: TilePlace): Tile | undefined {
    const named = this.#extensions.map((extension) => this.#nameOf(place, extension))
    const name = named.find((one) => this.#here.has(one))
    if (name === undefined || !this.#here.has(name)) return undefined
    const found = this.#reading.cached?.open(path.join(this.#directory, name)) ?? 'not_now'
    // An evicted tile is requested again.
    if (typeof found === 'string') return undefined
    if (found.fd !== null) fs.closeSync(found.fd)
    if (found.content === null) return undefined
    const { counts } = this.#reading.cache
    counts.servedTiles++
    counts.servedBytes += found.content.length
    return this.#toTile(found.content, microsecondsOf(found.mtimeNs))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #nameOf({ z, x, y, suffix = '' }: TilePlace, extension: string): string {
    const { storage } = this.#spec
    return `${z}/${x}/${storage === 'tms' ? flipRow(z, y) : y}${suffix}.${extension}`
  }

  async #readKept(name: string): Promise<{ readonly tile: Tile; readonly isOld: boolean } | null> {
    if (this.#reading.cache.capacityBytes === 0) return null
    try {
      const file = await fs.promises.open(path.join(this.#directory, name))
      try {
        const { mtimeNs, ctimeMs } = await file.stat({ bigint: true })
        // biome-ignore lint/plugin: calendar, of files
        const isOld = Math.abs(Date.now() - Number(ctimeMs)) > RECHECK_MS
        return { tile: this.#toTile(await file.readFile(), microsecondsOf(mtimeNs)), isOld }
      } finally {
        await file.close()
      }
    } catch {
      return null // absent, or out of reach: the store has it
    }
  }

  async #ask(name: string, known: Tile | null): Promise<Tile | null> {
    const { store, key } = this.#object
    const facts = known === null ? null : await store.head(`${key}/${name}`)
    if (facts === undefined) return this.#noteAbsent(name)
    const tile = facts === null ? null : this.#toTile(known?.body as Uint8Array, microseconds(facts))
    if (known !== null && tile?.identity === known.identity && facts?.size === (known.body as Uint8Array).length) {
      await this.#keep(name, null, microseconds(facts))
      return known
    }
    return this.#fetch(name)
  }

  async #fetch(name: string): Promise<Tile | null> {
    const { store, key } = this.#object
    const { counts } = this.#reading.cache
    counts.misses++
    try {
      const { bytes, facts } = await store.read(`${key}/${name}`, { offset: 0, length: MAX_TILE_BYTES })
      if (facts.size > MAX_TILE_BYTES) throw new BrokenArchiveError('a tile is larger than can be read from elsewhere')
      if (bytes.length !== facts.size) throw new ObjectStoreTrouble('the answer is shorter than the tile')
      counts.fetchedBytes += bytes.length
      if (bytes.length === 0) return this.#noteAbsent(name)
      void this.#keep(name, bytes, microseconds(facts))
      return this.#toTile(bytes, microseconds(facts))
    } catch (error) {
      if (error instanceof ObjectMissing) return this.#noteAbsent(name)
      throw error
    }
  }

  #noteAbsent(name: string): null {
    this.#absent.set(name, true)
    return null
  }

  /** Writes completely or not at all. @param bytes null: the existing file is current */
  async #keep(name: string, bytes: Uint8Array | null, modified: bigint): Promise<void> {
    const { cache } = this.#reading
    if (!cache.mayFill) return
    const file = path.join(this.#directory, name)
    const temporary = bytes === null ? file : temporaryNameBeside(file)
    const seconds = secondsFor(modified)
    try {
      if (bytes !== null) {
        await fs.promises.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
        await fs.promises.writeFile(temporary, bytes, { mode: 0o600 })
      }
      await fs.promises.utimes(temporary, seconds, seconds)
      if (bytes !== null) await fs.promises.rename(temporary, file)
      this.#here.set(name, true)
      if (bytes === null) return
      cache.filled(Math.max(bytes.length, 4096))
    } catch (error) {
      if (bytes !== null) await fs.promises.rm(temporary, { force: true }).catch(() => {})
      cache.failed(error)
    }
  }

  #toTile(bytes: Uint8Array, modified: bigint): Tile {
    return {
      body: bytes,
      ...kindOf(this.#spec.format, bytes),
      identity: `${modified.toString(36)}-${bytes.length.toString(36)}`,
      modifiedMs: Number(modified / 1000n),
      file: null,
    }
  }
}

/**
 * Encodes the modification time of an object, to the second, with a digest of its ETag in the digits below: the single time of a file holds both, on
 * all machines. Microseconds: see `secondsFor`.
 */
function microseconds({ etag, modifiedAt }: ObjectFacts): bigint {
  const seconds = BigInt(Math.floor((modifiedAt?.getTime() ?? 0) / 1000))
  const mark = createHash('sha256').update(etag).digest().readUInt32LE(0) % 1_000_000
  return seconds * 1_000_000n + BigInt(mark)
}
