import fs from 'node:fs'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { SharedHandle } from '@gateway/core/files/shared-handle.js'
import { LRUCache } from 'lru-cache'
import { zxyToTileId } from 'pmtiles'
import { isInPyramid } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import type { OpenExtent } from '../extents.js'
import { kindOf, SIGNATURE_BYTES } from '../formats.js'
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
import { openArchive, type PmtilesArchive, unpackDirectory } from './archive.js'
import { type Directory, directoryBytes, findEntry } from './directory.js'
import type { Section } from './header.js'
import { MAX_DIRECTORY_BYTES, MAX_LEAF_DEPTH } from './layout.js'

/** Maximum memory for decoded leaf directories of one archive: some 600,000 entries. The largest allowed leaf fits. */
const MAX_LEAF_BYTES = 16 * 1024 * 1024

/** A search that yields the required sections of the file and receives their bytes, so the caller can wait for them or give up. */
export type Search<T> = Generator<Section, T, Uint8Array>
/** Leaf directories by their offset. */
export interface Leaves {
  get(offset: number): Directory | undefined
  set(offset: number, leaf: Directory): unknown
}

/** The source of an archive's bytes. */
export interface ArchiveBytes {
  /** Reads into memory. Rejects if the section cannot be read. */
  read(section: Section): Promise<Uint8Array>
  /** null: `read` would have to wait */
  readIfCached(section: Section): Uint8Array | null
  /** Returns a larger section as part of a file if possible, otherwise as bytes. */
  part(section: Section): Promise<FilePart | Uint8Array>
  partIfCached(section: Section): FilePart | null
  /** Called when no more calls will follow. */
  close(): void
}

/** Opens a PMTiles archive for serving. null: it does not exist. Rejects with `BrokenArchiveError` and the disk's errors. */
export async function openPmtiles(spec: SourceSpec, cached: CachedReader | null): Promise<Source | null> {
  const opening = await openArchive(spec.root, spec.path)
  if (!opening.ok) return null
  const remote = spec.isRemote ? spec.root : undefined
  return new PmtilesSource(
    opening.archive,
    new FileBytes(opening.archive.fd, remote, cached),
    spec.format,
    cached !== null,
  )
}

/** Bytes of an archive on a local disk, or on a mounted remote file system (`remote`). Closes the descriptor when its last user is done. */
class FileBytes implements ArchiveBytes {
  readonly #fd: number
  readonly #remote: string | undefined
  readonly #cached: CachedReader | null
  readonly #handle: SharedHandle

  constructor(fd: number, remote: string | undefined, cached: CachedReader | null) {
    this.#fd = fd
    this.#remote = remote
    this.#cached = cached
    // Closing may contact a network file system.
    this.#handle = new SharedHandle(() => fs.close(fd, () => {}))
  }

  async read({ offset, length }: Section): Promise<Uint8Array> {
    const release = this.#handle.acquire()
    try {
      return await readExactly(this.#fd, offset, length)
    } finally {
      release()
    }
  }

  readIfCached({ offset, length }: Section): Uint8Array | null {
    return this.#cached?.read(this.#fd, offset, length) ?? null
  }

  async part(section: Section): Promise<FilePart> {
    return this.partIfCached(section)
  }

  partIfCached({ offset, length }: Section): FilePart {
    return { fd: this.#fd, offset, length, remote: this.#remote, release: this.#handle.acquire() }
  }

  close(): void {
    this.#handle.retire()
  }
}

export class PmtilesSource implements Source {
  readonly #archive: PmtilesArchive
  readonly #bytes: ArchiveBytes
  readonly #hasLayout: boolean
  readonly #format: TileFormat
  readonly #leaves = new LRUCache<number, Directory>({ maxSize: MAX_LEAF_BYTES, sizeCalculation: directoryBytes })

  /** @param hasLayout true if other code may read its parts in memory */
  constructor(archive: PmtilesArchive, bytes: ArchiveBytes, format: TileFormat, hasLayout: boolean) {
    this.#archive = archive
    this.#bytes = bytes
    this.#hasLayout = hasLayout
    this.#format = format
  }

  async tile(place: TilePlace): Promise<Tile | null> {
    const section = await finish(this.#search(place), (leaf) => this.#bytes.read(leaf))
    if (section === null) return null
    if (section.length <= SMALL_BYTES) return this.#toTile(section, await this.#bytes.read(section))
    const start = await this.#bytes.read(startOf(section))
    return this.#toTile(section, await this.#bytes.part(section), start)
  }

  has(place: TilePlace): boolean | undefined {
    const section = this.#sectionIfCached(place)
    return section === undefined ? undefined : section !== null
  }

  /** Returns undefined if a directory on the way must be read. */
  #sectionIfCached(place: TilePlace): Section | null | undefined {
    const search = this.#search(place)
    let step = search.next()
    while (!step.done) {
      const bytes = this.#bytes.readIfCached(step.value)
      if (bytes === null) return undefined
      step = search.next(bytes)
    }
    return step.value
  }

  tileIfCached(place: TilePlace): Tile | null | undefined {
    const section = this.#sectionIfCached(place)
    if (section === null || section === undefined) return section
    const isLarge = section.length > SMALL_BYTES
    const start = this.#bytes.readIfCached(isLarge ? startOf(section) : section)
    if (start === null) return undefined
    const body = isLarge ? this.#bytes.partIfCached(section) : start
    return body === null ? undefined : this.#toTile(section, body, start)
  }

  layout(): SourceLayout | null {
    return this.#hasLayout ? { kind: 'archive', archive: this.#archive } : null
  }

  *knownLeaves(place: TilePlace): Generator<readonly [offset: number, leaf: Directory], Section | null> {
    const { header, root } = this.#archive
    const { z, x, y } = place
    if (z > header.maxZoom || !isInPyramid(z, x, y)) return null
    const tileId = zxyToTileId(z, x, y)
    let directory: Directory | undefined = root
    for (let depth = 0; depth <= MAX_LEAF_DEPTH; depth++) {
      const entry = findEntry(directory, tileId)
      if (entry < 0) return null
      const offset: number = directory.offsets[entry]!
      const length: number = directory.lengths[entry]!
      if (directory.runLengths[entry]! > 0) {
        // Elsewhere this is an error. Here it only means that there is no layout.
        return offset + length > header.tiles.length ? null : { offset: header.tiles.offset + offset, length }
      }
      directory = this.#leaves.get(header.leaves.offset + offset)
      if (directory === undefined) return null
      yield [header.leaves.offset + offset, directory]
    }
    return null
  }

  knownExtents(place: TilePlace): Iterable<OpenExtent> {
    const { extents } = this.#archive
    if (extents === undefined) return []
    const leaves = this.knownLeaves(place)
    let step = leaves.next()
    while (!step.done) step = leaves.next()
    return step.value === null ? [] : extents.of(step.value)
  }

  close(): void {
    this.#bytes.close()
  }

  *#search({ z, x, y }: TilePlace): Search<Section | null> {
    const { header } = this.#archive
    // Its numbering is that of a square, which excludes the eastern half of a geographic grid.
    if (z < header.minZoom || z > header.maxZoom || !isInPyramid(z, x, y)) return null
    return yield* findTile(this.#archive, this.#leaves, zxyToTileId(z, x, y))
  }

  #toTile({ offset, length }: Section, body: Tile['body'], start = body as Uint8Array): Tile {
    const { identity, modifiedMs } = this.#archive
    // Not the address: tiles of equal content are stored once, and share their entry in every cache.
    const place = `${offset.toString(36)}-${length.toString(36)}`
    return { body, ...kindOf(this.#format, start), identity: `${identity}-${place}`, modifiedMs, file: null }
  }
}

function startOf({ offset, length }: Section): Section {
  return { offset, length: Math.min(length, SIGNATURE_BYTES) }
}

/** Finds the position of a tile's bytes in the file; null: the archive has no such tile. */
export function* findTile(archive: PmtilesArchive, leaves: Leaves, tileId: number): Search<Section | null> {
  const { header, root } = archive
  let directory = root
  for (let depth = 0; depth <= MAX_LEAF_DEPTH; depth++) {
    const entry = findEntry(directory, tileId)
    if (entry < 0) return null
    const offset = directory.offsets[entry]!
    const length = directory.lengths[entry]!
    if (directory.runLengths[entry]! > 0) return within(header.tiles, offset, length)
    directory = yield* leafAt(archive, leaves, directory, entry)
  }
  throw new BrokenArchiveError(`directories are nested more than ${MAX_LEAF_DEPTH} deep`)
}

/** Returns the leaf that an entry of a directory points to. */
export function* leafAt(
  { header }: Pick<PmtilesArchive, 'header'>,
  leaves: Leaves,
  { offsets, lengths }: Directory,
  entry: number,
): Search<Directory> {
  const section = within(header.leaves, offsets[entry]!, lengths[entry]!)
  const known = leaves.get(section.offset)
  if (known !== undefined) return known
  const leaf = unpackDirectory(header, yield bounded(section))
  leaves.set(section.offset, leaf)
  return leaf
}

/** Runs a search to its end without blocking the event loop. @param from an open file, or a function that reads a section */
export async function finish<T>(
  search: Search<T>,
  from: number | ((section: Section) => Promise<Uint8Array>),
): Promise<T> {
  const read = typeof from === 'number' ? ({ offset, length }: Section) => readExactly(from, offset, length) : from
  let step = search.next()
  while (!step.done) step = search.next(await read(step.value))
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
