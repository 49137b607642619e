import fs from 'node:fs'
import { SharedHandle } from '@gateway/files/shared-handle.js'
import { LRUCache } from 'lru-cache'
import { zxyToTileId } from 'pmtiles'
import { isInPyramid } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly } from '../read-exactly.js'
import {
  type CachedReader,
  type FilePart,
  SMALL_BYTES,
  type Source,
  type SourceLayout,
  type SourceSpec,
  type Tile,
  type TilePlace,
} from '../source.js'
import type { TileEncoding } from '../tile-set.js'
import { openArchive, type PmtilesArchive, unpackDirectory } from './archive.js'
import { type Directory, directoryBytes, findEntry } from './directory.js'
import { encodingOfTiles, type Section } from './header.js'
import { MAX_DIRECTORY_BYTES, MAX_LEAF_DEPTH } from './layout.js'

/** Limit: memory for decoded leaf directories of one archive, some 600,000 entries; the largest that is allowed fits. */
const MAX_LEAF_BYTES = 16 * 1024 * 1024

/** A search that yields the sections of the file that it needs and is given their bytes: so it can wait for them, or give up. */
type Search<T> = Generator<Section, T, Uint8Array>
/** Leaf directories by their offset. */
export interface Leaves {
  get(offset: number): Directory | undefined
  set(offset: number, leaf: Directory): unknown
}

/** Opens a PMTiles archive for serving. null: it is not there. Rejects with `BrokenArchiveError` and the disk's errors. */
export async function openPmtiles(spec: SourceSpec, cached: CachedReader | null): Promise<Source | null> {
  const opening = await openArchive(spec.root, spec.path)
  return opening.ok ? new PmtilesSource(opening.archive, spec, cached) : null
}

class PmtilesSource implements Source {
  readonly #archive: PmtilesArchive
  readonly #cached: CachedReader | null
  readonly #remote: string | undefined
  readonly #encoding: TileEncoding
  readonly #leaves = new LRUCache<number, Directory>({ maxSize: MAX_LEAF_BYTES, sizeCalculation: directoryBytes })
  readonly #handle: SharedHandle

  constructor(archive: PmtilesArchive, { root, isRemote }: SourceSpec, cached: CachedReader | null) {
    this.#archive = archive
    this.#cached = cached
    this.#remote = isRemote ? root : undefined
    this.#encoding = encodingOfTiles(archive.header.tileCompression, archive.header.tileType)
    // Closing may ask a network file system.
    this.#handle = new SharedHandle(() => fs.close(archive.fd, () => {}))
  }

  async tile(place: TilePlace): Promise<Tile | null> {
    const release = this.#handle.acquire()
    try {
      return await finish(this.#search(place), this.#archive.fd)
    } finally {
      release()
    }
  }

  tileIfCached(place: TilePlace): Tile | null | undefined {
    const search = this.#search(place)
    let step = search.next()
    while (!step.done) {
      const bytes = this.#cached?.read(this.#archive.fd, step.value.offset, step.value.length) ?? null
      if (bytes === null) return undefined
      step = search.next(bytes)
    }
    return step.value
  }

  layout(): SourceLayout | null {
    return this.#cached === null ? null : { kind: 'archive', archive: this.#archive, encoding: this.#encoding }
  }

  *knownLeaves({ z, x, y }: TilePlace): Iterable<readonly [offset: number, leaf: Directory]> {
    const { header, root } = this.#archive
    if (z > header.maxZoom || !isInPyramid(z, x, y)) return
    const tileId = zxyToTileId(z, x, y)
    let directory: Directory | undefined = root
    for (let depth = 0; depth < MAX_LEAF_DEPTH; depth++) {
      const entry = findEntry(directory, tileId)
      if (entry < 0 || directory.runLengths[entry]! > 0) return
      const offset: number = header.leaves.offset + directory.offsets[entry]!
      directory = this.#leaves.get(offset)
      if (directory === undefined) return
      yield [offset, directory]
    }
  }

  close(): void {
    this.#handle.retire()
  }

  *#search({ z, x, y }: TilePlace): Search<Tile | null> {
    const { header, identity, modifiedMs } = this.#archive
    // Its numbering is that of a square: the eastern half of a geographic grid has no place in it.
    if (z < header.minZoom || z > header.maxZoom || !isInPyramid(z, x, y)) return null
    const section = yield* findTile(this.#archive, this.#leaves, zxyToTileId(z, x, y))
    if (section === null) return null
    return {
      body: section.length > SMALL_BYTES ? this.#part(section) : yield section,
      encoding: this.#encoding,
      // Not the address: tiles of equal content, stored once, share their place in every cache.
      identity: `${identity}-${section.offset.toString(36)}-${section.length.toString(36)}`,
      modifiedMs,
      file: null,
    }
  }

  #part({ offset, length }: Section): FilePart {
    return { fd: this.#archive.fd, offset, length, remote: this.#remote, release: this.#handle.acquire() }
  }
}

/** Where a tile's bytes are in the file; null: the archive has no such tile. */
export function* findTile(archive: PmtilesArchive, leaves: Leaves, tileId: number): Search<Section | null> {
  const { header, root } = archive
  let directory = root
  for (let depth = 0; depth <= MAX_LEAF_DEPTH; depth++) {
    const entry = findEntry(directory, tileId)
    if (entry < 0) return null
    const offset = directory.offsets[entry]!
    const length = directory.lengths[entry]!
    if (directory.runLengths[entry]! > 0) return within(header.tiles, offset, length)
    const section = within(header.leaves, offset, length)
    const known = leaves.get(section.offset)
    directory = known ?? unpackDirectory(header, yield bounded(section))
    if (known === undefined) leaves.set(section.offset, directory)
  }
  throw new BrokenArchiveError(`directories are nested more than ${MAX_LEAF_DEPTH} deep`)
}

/** Reads what a search asks for until it ends, without holding the event loop. */
export async function finish<T>(search: Search<T>, fd: number): Promise<T> {
  let step = search.next()
  while (!step.done) step = search.next(await readExactly(fd, step.value.offset, step.value.length))
  return step.value
}

function bounded(leaf: Section): Section {
  if (leaf.length > MAX_DIRECTORY_BYTES) throw new BrokenArchiveError('a directory is larger than allowed')
  return leaf
}

function within(section: Section, offset: number, length: number): Section {
  if (offset + length > section.length)
    throw new BrokenArchiveError('a directory points beyond the section it points into')
  return { offset: section.offset + offset, length }
}
