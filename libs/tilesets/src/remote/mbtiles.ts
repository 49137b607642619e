import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ObjectReplaced, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import { BrokenArchiveError } from '../broken-archive.js'
import type { MbtilesReaders } from '../mbtiles/readers/readers.js'
import type { Source, SourceSpec } from '../source.js'
import type { BlockCache } from './block-cache.js'
import { findFacts } from './kept-facts.js'
import type { RemoteObject } from './object-reader.js'

/** Maximum share of the cache for one archive. */
const MAX_PART = 0.5
/** Time without a write after which a fetching process counts as ended, and another one starts again. */
const SILENT_MS = 30_000
/** Interval of recording uses. The longest unused files are evicted first. */
const NOTE_USE_MS = 60_000
const NAME = 'archive.mbtiles'
const MODE = 0o600

/** A complete archive in the cache. */
export interface FetchedArchive {
  readonly root: string
  readonly path: string
  readonly facts: ObjectFacts
  /** identifies the object's content, in letters of an ETag; the same wherever it is fetched, unlike inode and times of the copy */
  readonly name: string
}

/**
 * Fetches an object completely into the cache, once for all processes of the machine, or finds it there. undefined: it is not in the store. Rejects with
 * `ObjectStoreTrouble` while another process fetches it, with `BrokenArchiveError` if it is too large for the cache, and with errors of the
 * store and the disk.
 */
export async function fetchArchive(
  { store, key }: RemoteObject,
  cache: BlockCache,
): Promise<FetchedArchive | undefined> {
  const facts = await findFacts({ store, key }, cache)
  if (facts === undefined) return undefined
  if (facts.size > cache.capacityBytes * MAX_PART) {
    throw new BrokenArchiveError(
      `an MBTiles archive is read from the cache on disk, and ${facts.size} bytes are more than half of TILE_CACHE_BYTES`,
    )
  }
  const name = createHash('sha256')
    .update(`${store.url}/${key}\n${facts.etag}\n${facts.size}`)
    .digest('hex')
    .slice(0, 32)
  const file = path.join(cache.directory, name, NAME)
  const fetched = { root: cache.directory, path: file, facts, name }
  const size = await fs.promises.stat(file).then(
    (stat) => stat.size,
    () => null,
  )
  if (size !== facts.size) await fetch({ store, key }, facts, file, cache)
  return fetched
}

async function fetch({ store, key }: RemoteObject, facts: ObjectFacts, file: string, cache: BlockCache): Promise<void> {
  const partial = `${file}.part`
  await fs.promises.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  await claim(partial)
  try {
    const { body, facts: now } = await store.stream(key, { ifMatch: facts.etag, size: facts.size })
    if (now.etag !== facts.etag) throw new ObjectReplaced('the object has been replaced')
    // Synced before it gets its name, since nothing checks the pages of an archive that a power failure has truncated.
    await pipeline(body, fs.createWriteStream(partial, { flags: 'r+', flush: true }))
    const { size } = await fs.promises.stat(partial)
    if (size !== facts.size) throw new ObjectStoreTrouble('the answer is shorter than the archive')
    await fs.promises.rename(partial, file)
    cache.counts.fetchedBytes += size
    cache.filled(size)
  } catch (error) {
    await fs.promises.rm(partial, { force: true }).catch(() => {})
    throw error instanceof ObjectReplaced
      ? new ObjectStoreTrouble('the object is being replaced', 1, { cause: error })
      : error
  }
}

/** Creates the file that gives this process the exclusive right to fetch. */
async function claim(partial: string): Promise<void> {
  for (;;) {
    try {
      return await fs.promises.writeFile(partial, '', { flag: 'wx', mode: MODE })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const stat = await fs.promises.stat(partial).catch(() => null)
    // biome-ignore lint/plugin: calendar, of files
    if (stat !== null && Math.abs(Date.now() - stat.mtimeMs) < SILENT_MS) {
      throw new ObjectStoreTrouble('the archive is being fetched', 5)
    }
    await fs.promises.rm(partial, { force: true })
  }
}

/** Opens an archive in a store by its cached copy, which is fetched again after an eviction. Rejects like `fetchArchive`. */
export async function openRemoteMbtiles(
  spec: SourceSpec,
  object: RemoteObject,
  cache: BlockCache,
  readers: MbtilesReaders,
): Promise<Source | null> {
  const fetched = await fetchArchive(object, cache)
  if (fetched === undefined) return null
  const { root, path: file, name, facts } = fetched
  const source = readers.source({ ...spec, root, path: file })
  const modifiedMs = facts.modifiedAt?.getTime()
  const read: Source['tile'] = async (place) => {
    const tile = await source.tile(place)
    if (tile === null || tile === 'busy') return tile
    const identity = `${name}-${place.z}-${place.x}-${place.y}`
    return { ...tile, identity, modifiedMs: modifiedMs ?? tile.modifiedMs }
  }
  let notedAtMs = 0
  /** false: it was evicted */
  const noteUse = async () => {
    notedAtMs = performance.now()
    // Sets the ctime, by which evictions choose, and keeps the modification time, by which readers recognise the file.
    return fs.promises.chmod(file, MODE).then(
      () => true,
      (error) => (error as NodeJS.ErrnoException).code !== 'ENOENT',
    )
  }
  return {
    async tile(place) {
      const tile = await read(place)
      // An open file stays readable, but a restarted reader would find nothing.
      const isDue = tile === null || performance.now() - notedAtMs > NOTE_USE_MS
      if (!isDue || (await noteUse())) return tile
      if ((await fetchArchive(object, cache)) === undefined) return null
      return read(place)
    },
    close: () => source.close(),
  }
}
