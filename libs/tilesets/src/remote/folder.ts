import { ObjectMissing, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import { flipRow } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { fileExtensions } from '../formats.js'
import type { Validators } from '../kept/kept-files.js'
import { KeptTiles, type Made, type MadeTile } from '../kept/kept-tiles.js'
import type { Source, SourceSpec, TilePlace } from '../source.js'
import type { RemoteObject } from './object-reader.js'
import type { RemoteReading } from './pmtiles.js'

/** Maximum bytes of one tile. */
const MAX_TILE_BYTES = 32 * 1024 * 1024
/** Time for which a local copy counts as current, and after which a replaced tile is noticed. */
const RECHECK_MS = 3_600_000
/** Time for which an absent tile is not requested again. */
const ABSENT_MS = 30_000

/** A folder of tiles in a store. Each tile is an object, and is kept as a file. `object.key`: the folder. */
export function openRemoteFolder(spec: SourceSpec, object: RemoteObject, reading: RemoteReading): Source {
  const folder = new RemoteFolder(spec, object)
  const tiles = new KeptTiles({
    key: `${object.store.url}/${object.key}\n${spec.content ?? ''}`,
    format: spec.format,
    extension: fileExtensions(spec)[0]!,
    rows: spec.storage === 'tms' ? 'tms' : 'xyz',
    cache: reading.cache,
    cached: reading.cached,
    make: (place, { known }) => folder.make(place, known),
    ttlMs: RECHECK_MS,
    // The state of the last check, while the store is out of reach.
    staleMs: Number.POSITIVE_INFINITY,
    absentMs: ABSENT_MS,
    keepsTags: false,
    tellsAge: false,
  })
  // Copies in other caches are requested again, and so checked.
  const timer = setInterval(reading.onReplaced, RECHECK_MS).unref()
  return {
    tile: (place, asking) => tiles.tile(place, asking),
    tileIfCached: (place) => tiles.tileIfCached(place),
    close: () => {
      clearInterval(timer)
      tiles.close()
    },
  }
}

class RemoteFolder {
  readonly #spec: SourceSpec
  readonly #object: RemoteObject

  constructor(spec: SourceSpec, object: RemoteObject) {
    this.#spec = spec
    this.#object = object
  }

  async make(place: TilePlace, known: Validators | null): Promise<Made> {
    for (const extension of fileExtensions(this.#spec)) {
      const name = this.#nameOf(place, extension)
      if (known !== null) {
        const facts = await this.#object.store.head(name)
        if (facts === undefined) continue
        if (facts.size === known.bytes && timeOf(facts) === known.modifiedMs && known.hasTag(facts.etag))
          return 'unchanged'
      }
      const tile = await this.#fetch(place, name)
      if (tile !== null) return [tile]
    }
    return 'absent'
  }

  #nameOf({ z, x, y, suffix = '' }: TilePlace, extension: string): string {
    const row = this.#spec.storage === 'tms' ? flipRow(z, y) : y
    return `${this.#object.key}/${z}/${x}/${row}${suffix}.${extension}`
  }

  async #fetch(place: TilePlace, name: string): Promise<MadeTile | null> {
    try {
      const { bytes, facts } = await this.#object.store.read(name, { offset: 0, length: MAX_TILE_BYTES })
      if (facts.size > MAX_TILE_BYTES) throw new BrokenArchiveError('a tile is larger than can be read from elsewhere')
      if (bytes.length !== facts.size) throw new ObjectStoreTrouble('the answer is shorter than the tile')
      return { place, bytes, etag: facts.etag, modifiedMs: timeOf(facts) }
    } catch (error) {
      if (error instanceof ObjectMissing) return null
      throw error
    }
  }
}

function timeOf({ modifiedAt }: ObjectFacts): number {
  return Math.floor((modifiedAt?.getTime() ?? 0) / 1000) * 1000
}
