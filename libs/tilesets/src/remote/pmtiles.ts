import type { TileFormat } from '@gateway/contracts/basemap.js'
import { ObjectMissing, ObjectReplaced, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import type { OpenExtent } from '../extents.js'
import { readStart } from '../pmtiles/archive.js'
import { PmtilesSource } from '../pmtiles/source.js'
import type { CachedReader, Source, SourceLayout, Tile, TilePlace } from '../source.js'
import type { BlockCache } from './block-cache.js'
import { findFacts } from './kept-facts.js'
import { ObjectReader, type RemoteObject } from './object-reader.js'

export interface RemoteReading {
  readonly cache: BlockCache
  readonly cached: CachedReader | null
  /** called if the object was replaced: all cached data of it is of the previous content */
  readonly onReplaced: () => void
}

/** Opens a remote PMTiles archive. null: it does not exist. Rejects with `BrokenArchiveError`, `ObjectRefused` and `ObjectStoreTrouble`. */
export async function openRemotePmtiles(
  object: RemoteObject,
  reading: RemoteReading,
  format: TileFormat,
): Promise<Source | null> {
  const facts = await findFacts(object, reading.cache)
  if (facts === undefined) return null
  try {
    return new RemotePmtiles(object, reading, await open(object, facts, reading, format), format)
  } catch (error) {
    throw error instanceof ObjectReplaced ? replacedAgain(error) : error
  }
}

async function open(
  object: RemoteObject,
  facts: ObjectFacts,
  { cache, cached }: RemoteReading,
  format: TileFormat,
): Promise<PmtilesSource> {
  const bytes = new ObjectReader({ ...object, facts }, cache, cached)
  const start = await readStart((section) => bytes.read(section), facts.size)
  const modifiedMs = facts.modifiedAt?.getTime() ?? 0
  const archive = { fd: -1, extents: bytes.extents, identity: bytes.name, modifiedMs, ...start }
  return new PmtilesSource(archive, bytes, format, cached !== null && cache.capacityBytes > 0)
}

/** A reader during a replacement gets a tile of the old content or of the new one. */
class RemotePmtiles implements Source {
  readonly #object: RemoteObject
  readonly #reading: RemoteReading
  readonly #format: TileFormat
  #now: PmtilesSource
  #reopening: Promise<PmtilesSource | null> | null = null

  constructor(object: RemoteObject, reading: RemoteReading, now: PmtilesSource, format: TileFormat) {
    this.#format = format
    this.#object = object
    this.#reading = reading
    this.#now = now
  }

  async tile(place: TilePlace): Promise<Tile | null> {
    const asked = this.#now
    try {
      return await asked.tile(place)
    } catch (error) {
      // Cached parts stay served.
      if (error instanceof ObjectMissing) return null
      if (!(error instanceof ObjectReplaced)) throw error
    }
    try {
      if (this.#now === asked) this.#reopening ??= this.#reopen()
      const source = this.#now === asked ? await this.#reopening : this.#now
      return source === null ? null : await source.tile(place)
    } catch (error) {
      throw error instanceof ObjectReplaced ? replacedAgain(error) : error
    }
  }

  tileIfCached(place: TilePlace): Tile | null | undefined {
    const tile = this.#now.tileIfCached(place)
    if (tile !== null && tile !== undefined) {
      const { counts } = this.#reading.cache
      counts.servedTiles++
      counts.servedBytes += tile.body.length
    }
    return tile
  }

  layout(): SourceLayout | null {
    return this.#now.layout()
  }

  knownLeaves(place: TilePlace) {
    return this.#now.knownLeaves(place)
  }

  knownExtents(place: TilePlace): Iterable<OpenExtent> {
    return this.#now.knownExtents(place)
  }

  close(): void {
    this.#now.close()
  }

  async #reopen(): Promise<PmtilesSource | null> {
    try {
      const facts = await this.#object.store.head(this.#object.key)
      if (facts === undefined) return null
      this.#now = await open(this.#object, facts, this.#reading, this.#format)
      return this.#now
    } finally {
      this.#reopening = null
      this.#reading.onReplaced()
    }
  }
}

function replacedAgain(cause: Error): ObjectStoreTrouble {
  return new ObjectStoreTrouble('the object is replaced faster than it can be read', 1, { cause })
}
