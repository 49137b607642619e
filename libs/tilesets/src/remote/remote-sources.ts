import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import { keyBelow } from '@gateway/core/object-storage/location.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import type { MbtilesReaders } from '../mbtiles/readers/readers.js'
import type { CachedReader, Source, SourceSpec } from '../source.js'
import type { BlockCache } from './block-cache.js'
import { openRemoteFolder } from './folder.js'
import { type FetchedArchive, fetchArchive, openRemoteMbtiles } from './mbtiles.js'
import { ObjectReader, type RemoteObject } from './object-reader.js'
import { openRemotePmtiles, type RemoteReading } from './pmtiles.js'

/** Time limit of a call; the same as for reads from disks (DISK_LIMIT_MS). Requests in progress still fill the cache. */
const LIMIT_MS = 10_000
/** Maximum number of waiting callers for one scan source. */
const MAX_WAITING = 1_024

export interface RemoteOptions {
  /** opens the store of a scan source, by its path */
  readonly openStore: (root: string) => ObjectStore
  readonly cache: BlockCache
  readonly cached: CachedReader | null
  readonly mbtiles: MbtilesReaders
  /** called if the content of a version has changed, with `SourceSpec.id` */
  readonly onReplaced: (id: number) => void
  readonly limitMs?: number
}

/** Versions whose path is the URL of an object or of a folder of objects. Each scan source has a store with its own circuit breaker. */
export class RemoteSources {
  readonly cache: BlockCache
  readonly #options: RemoteOptions
  readonly #stores = new Map<string, ObjectStore>()
  readonly #waiting = new Map<string, number>()

  constructor(options: RemoteOptions) {
    this.#options = options
    this.cache = options.cache
  }

  /** the stores in use, by scan source */
  get stores(): ReadonlyMap<string, ObjectStore> {
    return this.#stores
  }

  /** null: it does not exist. Rejects with `BrokenArchiveError`, `ObjectRefused` and `ObjectStoreTrouble`. */
  async open(spec: SourceSpec): Promise<Source | null> {
    const { cached, mbtiles, onReplaced } = this.#options
    const object = this.object(spec.root, spec.path)
    const reading: RemoteReading = { cache: this.cache, cached, onReplaced: () => onReplaced(spec.id) }
    switch (spec.storage) {
      case 'xyz':
      case 'tms':
        return openRemoteFolder(spec, object, reading)
      case 'pmtiles':
        return openRemotePmtiles(object, reading, spec.format)
      case 'mbtiles':
        return openRemoteMbtiles(spec, object, this.cache, mbtiles)
      default:
        // Scans never find them there.
        return null
    }
  }

  /** Returns the object at `path`, in the store of its scan source. */
  object(root: string, path: string): RemoteObject {
    const key = keyBelow(root, path)
    if (key === null) throw new Error('a version lies outside of its scan source')
    const store = this.#stores.get(root) ?? this.#options.openStore(root)
    this.#stores.set(root, store)
    return { store, key }
  }

  /** Returns a reader of an object's current content. undefined: it does not exist. */
  async reader(root: string, path: string): Promise<ObjectReader | undefined> {
    const { store, key } = this.object(root, path)
    const facts = await store.head(key)
    return facts === undefined ? undefined : new ObjectReader({ store, key, facts }, this.cache, null)
  }

  /** Returns an MBTiles archive as a file of the cache; see `fetchArchive`. */
  fetched(root: string, path: string): Promise<FetchedArchive | undefined> {
    return fetchArchive(this.object(root, path), this.cache)
  }

  /** Limits the time and the number of waits for a tile. Rejects with `ObjectStoreTrouble` beyond the limits, and with the errors of `read`. */
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
