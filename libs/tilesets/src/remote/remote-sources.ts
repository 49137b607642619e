import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import { keyBelow } from '@gateway/core/object-storage/location.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import type { MbtilesReaders } from '../mbtiles/readers/readers.js'
import type { CachedReader, Source, SourceSpec } from '../source.js'
import type { BlockCache } from './block-cache.js'
import { openRemoteFolder } from './folder.js'
import { type FetchedArchive, fetchArchive, openRemoteMbtiles } from './mbtiles.js'
import { ObjectReader } from './object-reader.js'
import { openRemotePmtiles, type RemoteReading } from './pmtiles.js'
import type { RemoteObject } from './remote-object.js'

/** From the call to the answer; then it is trouble. As for all that is read from disks (DISK_LIMIT_MS). What is on its way still comes into the cache. */
const LIMIT_MS = 10_000
/** Limit: tiles of one scan source that are waited for. */
const MAX_WAITING = 1_024

export interface RemoteOptions {
  /** of a scan source, by its path */
  readonly openStore: (root: string) => ObjectStore
  readonly cache: BlockCache
  readonly cached: CachedReader | null
  readonly mbtiles: MbtilesReaders
  /** A version's content is another than it was: `SourceSpec.id`. */
  readonly onReplaced: (id: number) => void
  readonly limitMs?: number
}

/** Versions whose path is the address of an object or of a folder of objects, by scan source: each has a store with a circuit of its own. */
export class RemoteSources {
  readonly cache: BlockCache
  readonly #options: RemoteOptions
  readonly #stores = new Map<string, ObjectStore>()
  readonly #waiting = new Map<string, number>()

  constructor(options: RemoteOptions) {
    this.#options = options
    this.cache = options.cache
  }

  /** Those that were asked for so far, by scan source. */
  get stores(): ReadonlyMap<string, ObjectStore> {
    return this.#stores
  }

  /** null: it is not there. Rejects with `BrokenArchiveError`, `ObjectRefused` and `ObjectStoreTrouble`. */
  async open(spec: SourceSpec): Promise<Source | null> {
    const { cached, mbtiles, onReplaced } = this.#options
    const object = this.object(spec.root, spec.path)
    const reading: RemoteReading = { cache: this.cache, cached, onReplaced: () => onReplaced(spec.id) }
    switch (spec.storage) {
      case 'xyz':
      case 'tms':
        return openRemoteFolder(spec, object, reading)
      case 'pmtiles':
        return openRemotePmtiles(object, reading)
      case 'mbtiles':
        return openRemoteMbtiles(spec, object, this.cache, mbtiles)
      default:
        // No scan finds them there.
        return null
    }
  }

  /** The object at `path`, in the store of its scan source. */
  object(root: string, path: string): RemoteObject {
    const key = keyBelow(root, path)
    if (key === null) throw new Error('a version lies outside of its scan source')
    const store = this.#stores.get(root) ?? this.#options.openStore(root)
    this.#stores.set(root, store)
    return { store, key }
  }

  /** An object's present content. undefined: it is not there. */
  async reader(root: string, path: string): Promise<ObjectReader | undefined> {
    const { store, key } = this.object(root, path)
    const facts = await store.head(key)
    return facts === undefined ? undefined : new ObjectReader({ store, key, facts }, this.cache, null)
  }

  /** An MBTiles archive as a file of the cache; see `fetchArchive`. */
  fetched(root: string, path: string): Promise<FetchedArchive | undefined> {
    return fetchArchive(this.object(root, path), this.cache)
  }

  /** Bounds how long is waited for a tile, and by how many: rejects with `ObjectStoreTrouble` beyond, and with what `read` rejects with. */
  async wait<T>(root: string, read: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(root) ?? 0
    if (waiting >= MAX_WAITING) throw new ObjectStoreTrouble(`${MAX_WAITING} requests wait for its answers already`)
    this.#waiting.set(root, waiting + 1)
    const { limitMs = LIMIT_MS } = this.#options
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new ObjectStoreTrouble(`no answer within ${limitMs / 1000} s`)), limitMs)
    })
    try {
      return await Promise.race([read(), late])
    } finally {
      clearTimeout(timer)
      this.#waiting.set(root, (this.#waiting.get(root) ?? 1) - 1)
    }
  }

  /** Closes the stores of all other scan sources. */
  keepOnly(roots: ReadonlySet<string>): void {
    for (const [root, store] of this.#stores) {
      if (roots.has(root)) continue
      this.#stores.delete(root)
      void store.close()
    }
  }

  async close(): Promise<void> {
    this.cache.close()
    await Promise.all([...this.#stores.values()].map((store) => store.close()))
    this.#stores.clear()
  }
}
