import type { Storage } from '@gateway/contracts/basemap.js'
import { isOnLocalDisk } from '@gateway/core/files/local-file-system.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { CachedFiles } from '@gateway/native-edge/hot-tiles/cached-file.js'
import type { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import { openSource, type StorageReaders } from '@gateway/tilesets/open-source.js'
import type { RemoteSources } from '@gateway/tilesets/remote/remote-sources.js'
import {
  type Asking,
  type CachedReader,
  SMALL_BYTES,
  type Source,
  type Tile,
  type TilePlace,
} from '@gateway/tilesets/source.js'
import type { UpstreamSources } from '@gateway/tilesets/upstream/upstream-sources.js'
import { LRUCache } from 'lru-cache'
import type { DiskGate } from '../files/disk-gate.js'
import type { Pictures } from '../pictures/pictures.js'
import { type Catalog, type CatalogVersion, DATABASE_TILES } from '../sync/catalog.js'
import { PICTURES_ROOT } from '../sync/drawn-styles.js'
import { OpenFile } from './open-file.js'

/** Limit: each open archive occupies a descriptor. A folder occupies none and has less weight: thousands of them must not displace each other. */
const MAX_OPENED = 256
const FOLDERS_PER_ARCHIVE = 64
/**
 * Time in ms for which a folder is considered to be on a local disk: another file system may be mounted in its place. In the last part of that time
 * it is checked again asynchronously, so that no request waits for the check, even with thousands of folders in use.
 */
const LOCAL_FOR_MS = 60_000
const LOOK_AGAIN_AHEAD_MS = 10_000

/** The result of a load. `busy`: the disk did not answer in time. */
export type LoadOutcome =
  | { readonly kind: 'tile'; readonly tile: Tile }
  | { readonly kind: 'absent' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** A request that waits for a tile. */
export interface Waiter {
  /** Identifies the token, or whoever else waits. Default: nobody known */
  readonly caller?: string
  /** False if its client has disconnected; the request is then not settled. */
  isWanted(): boolean
  /** Must not throw. If the tile's body is a part of a file, the waiter must release it. */
  settle(outcome: LoadOutcome): void
}

/** Opens the tiles that a database makes; null: they are not in the catalog any more. */
export type OpenDatabaseTiles = (version: CatalogVersion, readers: StorageReaders) => Source | null

interface OpenedSource {
  readonly source: Source
  readonly isFolder: boolean
  /** Time of `performance.now()`. */
  readonly goodUntilMs: number
  isRenewed: boolean
}

/**
 * Loads tiles from the sources of this process, which it opens and caches by their content: a version that a scan found changed is opened again.
 * Reads that may wait for a disk run in the thread pool, alternating between scan sources, and reads of MBTiles in another process. So a disk, a
 * mount or an archive that does not answer delays only its own requests.
 */
export class TileLoader {
  readonly #sources = new LRUCache<number, OpenedSource>({
    maxSize: MAX_OPENED * FOLDERS_PER_ARCHIVE,
    sizeCalculation: ({ isFolder }) => (isFolder ? 1 : FOLDERS_PER_ARCHIVE),
    dispose: ({ source }) => source.close(),
  })
  readonly #disks: DiskGate
  readonly #pictures: Pictures | undefined
  readonly #database: OpenDatabaseTiles
  readonly #readers: StorageReaders
  readonly #loads = new Map<string, Waiter[]>()

  constructor(
    { disks, mbtiles, pictures }: { disks: DiskGate; mbtiles: MbtilesReaders; pictures?: Pictures },
    cached: CachedFiles | string = CachedFiles.load(SMALL_BYTES),
    remote?: (cached: CachedReader | null) => RemoteSources,
    database: OpenDatabaseTiles = () => null,
    upstream?: (remote: RemoteSources, cached: CachedReader | null) => UpstreamSources,
  ) {
    this.#database = database
    this.#disks = disks
    this.#pictures = pictures
    // Without the addon every tile of a file is loaded by a thread.
    const reader = typeof cached === 'string' ? null : cached
    const opened = remote?.(reader)
    const services = opened === undefined ? undefined : upstream?.(opened, reader)
    this.#readers = { mbtiles, cached: reader, remote: opened, upstream: services }
  }

  /** undefined if versions of services are not served. */
  get upstream(): UpstreamSources | undefined {
    return this.#readers.upstream
  }

  /** undefined if remote sources are not served. */
  get remote(): RemoteSources | undefined {
    return this.#readers.remote
  }

  /** Returns a tile without waiting; null if it does not exist; undefined if only `load` can decide, also after an error. */
  tileIfCached(version: CatalogVersion, place: TilePlace): Tile | null | undefined {
    const source = this.#opened(version)
    return source === undefined ? undefined : tileAtHand(source, place)
  }

  /** Tells if a tile exists. undefined: only `load` can decide, because the source is not open yet or must read, or after an error. */
  async has(version: CatalogVersion, place: TilePlace): Promise<boolean | 'busy' | undefined> {
    try {
      return await this.#opened(version)?.has?.(place)
    } catch {
      return undefined
    }
  }

  /** Returns a version's source if it is open; the caller must not close it. */
  opened(version: CatalogVersion): Source | undefined {
    return this.#opened(version)
  }

  /** Lets concurrent requests for one tile share its loading. */
  load(version: CatalogVersion, place: TilePlace, waiter: Waiter): void {
    const key = `${version.contentId}/${place.z}/${place.x}/${place.y}${place.suffix ?? ''}${place.variant ?? ''}`
    const waiting = this.#loads.get(key)
    if (waiting !== undefined) {
      waiting.push(waiter)
      return
    }
    const waiters = [waiter]
    this.#loads.set(key, waiters)
    const forget = () => {
      if (this.#loads.get(key) === waiters) this.#loads.delete(key)
    }
    const isWanted = () => {
      const wanted = waiters.some((one) => one.isWanted())
      // The next request begins a new load.
      if (!wanted) forget()
      return wanted
    }
    const settle = (outcome: LoadOutcome) => {
      forget()
      settleAll(waiters, outcome)
    }
    this.#read(version, place, { caller: waiter.caller ?? '', isWanted }).then(
      (tile) =>
        settle(tile === null ? { kind: 'absent' } : tile === 'busy' ? { kind: 'busy' } : { kind: 'tile', tile }),
      (error) => settle({ kind: 'failed', error }),
    )
  }

  /** Closes the sources that no version of the catalog uses any more. */
  keepOnly(catalog: Catalog): void {
    const ofVectors = [...catalog.vectors.values()].flatMap(({ tiles }) => tiles ?? [])
    const versions = [...catalog.basemaps.values(), ...ofVectors].flatMap((basemap) => [...basemap.versions.values()])
    const live = new Set(versions.map((version) => version.contentId))
    // Pictures of earlier contents leave with their place among the sources.
    for (const contentId of [...this.#sources.keys()])
      if (contentId > 0 && !live.has(contentId)) this.#sources.delete(contentId)
    this.#readers.mbtiles.keepOnly(live)
    const vectors = [...catalog.vectors.values()]
    this.remote?.keepOnly(
      new Set([...versions.map(({ root }) => root), ...vectors.map(({ stored }) => stored.sourcePath)]),
    )
  }

  closeAll(): void {
    this.#sources.clear()
    this.#readers.mbtiles.close()
    void this.upstream?.close()
    void this.remote?.close()
  }

  async #read(version: CatalogVersion, place: TilePlace, asking: Asking): Promise<Tile | null | 'busy'> {
    const read = async () => {
      const opened = this.#opened(version)
      if (opened !== undefined) return opened.tile(place, asking)
      const source = await this.#open(version)
      if (source === null) return null
      // In one step, unlike `tile`, which takes several turns of the event loop: after a start every basemap begins here.
      const cached = tileAtHand(source, place)
      return cached === undefined ? source.tile(place, asking) : cached
    }
    // A service has its own limits.
    if (version.stored.storage === 'upstream') return read()
    if (isRemote(version.stored.path)) return this.remote?.wait(version.root, read) ?? null
    if (isReadByOthers(version.stored.storage) || isInDatabase(version) || version.root === PICTURES_ROOT) return read()
    const outcome = await this.#disks.run(version.root, { read, discard: release, isWanted: asking.isWanted })
    return outcome.ok ? outcome.value : 'busy'
  }

  #openDatabase(version: CatalogVersion): Source | null {
    const source = this.#database(version, this.#readers)
    const opened = { isFolder: true, goodUntilMs: Number.POSITIVE_INFINITY, isRenewed: false }
    if (source !== null) this.#sources.set(version.contentId, { source, ...opened })
    return source
  }

  /** Returns undefined if the source must be opened first, or again. */
  #opened(version: CatalogVersion): Source | undefined {
    const known = this.#sources.get(version.contentId)
    const leftMs = known === undefined ? 0 : known.goodUntilMs - performance.now()
    if (known === undefined || leftMs <= 0) return undefined
    if (leftMs < LOOK_AGAIN_AHEAD_MS && !known.isRenewed) {
      known.isRenewed = true
      // The first request after that time meets the same error.
      this.#disks.run(version.root, { read: () => this.#open(version) }).catch(() => {})
    }
    return known.source
  }

  #openPictures(version: CatalogVersion): Source | null {
    const { remote, cached } = this.#readers
    const source = remote === undefined ? null : (this.#pictures?.open(version, remote.cache, cached) ?? null)
    if (source === null) return null
    this.#sources.set(version.contentId, {
      source,
      isFolder: true,
      goodUntilMs: Number.POSITIVE_INFINITY,
      isRenewed: false,
    })
    return source
  }

  async #open(version: CatalogVersion): Promise<Source | null> {
    const { stored, root, contentId } = version
    if (root === PICTURES_ROOT) return this.#openPictures(version)
    if (isInDatabase(version)) return this.#openDatabase(version)
    // Checks the version itself, because its scan source may contain mounts.
    const mayBeMounted = !isReadByOthers(stored.storage) && !isRemote(stored.path)
    const isMounted = mayBeMounted && !(await isOnLocalDisk(stored.path).catch(() => false))
    const content = `${stored.fingerprint}/${stored.revision}`
    const source = await openSource({ ...stored, id: contentId, root, content, isRemote: isMounted }, this.#readers)
    if (source === null) return null
    const meanwhile = this.#sources.get(contentId)
    const isFolder = mayBeMounted && (stored.storage === 'xyz' || stored.storage === 'tms')
    if (meanwhile !== undefined && !isFolder) {
      source.close()
      return meanwhile.source
    }
    const goodUntilMs = isFolder ? performance.now() + LOCAL_FOR_MS : Number.POSITIVE_INFINITY
    this.#sources.set(contentId, { source, isFolder, goodUntilMs, isRenewed: false })
    return source
  }
}

/** True if a database makes the tiles. */
export function isInDatabase({ stored }: CatalogVersion): boolean {
  return stored.path.startsWith(DATABASE_TILES)
}

/** True if SQLite reads it, in another process. */
function isReadByOthers(storage: Storage): boolean {
  return storage === 'mbtiles' || storage === 'geopackage'
}

/** Returns undefined if only `tile` can decide, also after an error. */
function tileAtHand(source: Source, place: TilePlace): Tile | null | undefined {
  try {
    return source.tileIfCached?.(place)
  } catch {
    return undefined
  }
}

function release(tile: Tile | null | 'busy'): void {
  if (tile !== null && tile !== 'busy' && !(tile.body instanceof Uint8Array)) tile.body.release()
}

function settleAll(waiters: readonly Waiter[], outcome: LoadOutcome): void {
  const body = outcome.kind === 'tile' ? outcome.tile.body : null
  const shared = body === null || body instanceof Uint8Array ? null : new OpenFile(body)
  for (const waiter of waiters) {
    if (!waiter.isWanted()) continue
    if (outcome.kind !== 'tile' || shared === null) waiter.settle(outcome)
    else waiter.settle({ kind: 'tile', tile: { ...outcome.tile, body: shared.acquire() } })
  }
  shared?.retire()
}
