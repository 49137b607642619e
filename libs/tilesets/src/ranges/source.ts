import fs from 'node:fs'
import { openBelow } from '@gateway/core/files/open-below.js'
import { SharedHandle } from '@gateway/core/files/shared-handle.js'
import { LRUCache } from 'lru-cache'
import { BrokenArchiveError } from '../broken-archive.js'
import { kindOf, SIGNATURE_BYTES } from '../formats.js'
import type { Directory } from '../pmtiles/directory.js'
import { readExactly } from '../read-exactly.js'
import {
  type CachedReader,
  type FolderOfBundles,
  SMALL_BYTES,
  type Source,
  type SourceLayout,
  type SourceSpec,
  type Tile,
  type TilePlace,
} from '../source.js'

/** A part of a file, whose path is absolute and below the scan source. */
export interface FileSection {
  readonly path: string
  readonly offset: number
  readonly length: number
}

/** The location of a tile's bytes. `head`: bytes to put before them. */
export interface TileSection extends FileSection {
  readonly head?: Uint8Array
}

/** A search that yields the sections that it needs and receives their bytes (null: the file does not exist), so that callers can wait or give up. */
export type SectionSearch = Generator<FileSection, TileSection | null, Uint8Array | null>

export type ReadSection = (section: FileSection) => Promise<Uint8Array | null>

/** The structure of an archive of ranges. */
export interface RangeLayout {
  /** Throws `BrokenArchiveError`. */
  find(place: TilePlace): SectionSearch
  /** Present if all tiles are in the one file of the set, which changes only as a whole. */
  readonly archive?: ArchiveOfRanges
  /** Present if all tiles are in bundles of a folder. */
  readonly bundles?: FolderOfBundles
  /** The tiles of a zoom, XYZ. For processes that answer no requests: all indexes are read. */
  addresses(zoom: number, read: ReadSection): AsyncIterable<readonly [x: number, y: number]>
}

/** The tiles of one file as PMTiles has them: numbered, in a root directory whose entries all lead to leaves. */
export interface ArchiveOfRanges {
  readonly minZoom: number
  readonly maxZoom: number
  readonly root: Directory
  /** bytes to put before each tile */
  readonly head?: Uint8Array
  /** the root's offset for the leaf of a tile; 0: the root has no such leaf */
  leafOf(place: TilePlace): number
  /** Finds the leaf itself; null or empty if it is not available. `identity` is that of the file. Throws `BrokenArchiveError`. */
  leaf(place: TilePlace, identity: string): Generator<FileSection, Directory | null, Uint8Array | null>
}

/** A set whose tiles can be listed. */
export interface ListedSource extends Source {
  addresses(zoom: number): AsyncIterable<readonly [x: number, y: number]>
}

/** Maximum number of concurrently open files of one set. */
const MAX_OPEN_FILES = 32

/** Beyond what a root directory numbers its leaves by. */
const NUMBERS = 2 ** 40

/** Limit: bytes of a tile that has to be put together in memory. */
const MAX_JOINED_BYTES = 32 * 1024 * 1024

interface OpenFile {
  readonly fd: number
  readonly size: number
  readonly identity: string
  readonly modifiedMs: number
  readonly handle: SharedHandle
}

/** Serves tiles that are ranges of files: bundles, zips of bundles, TIFFs. */
export class RangeSource implements ListedSource {
  readonly #spec: SourceSpec
  readonly #layout: RangeLayout
  readonly #cached: CachedReader | null
  readonly #files = new LRUCache<string, OpenFile>({ max: MAX_OPEN_FILES, dispose: ({ handle }) => handle.retire() })

  constructor(spec: SourceSpec, layout: RangeLayout, cached: CachedReader | null) {
    this.#spec = spec
    this.#layout = layout
    this.#cached = cached
  }

  async tile(place: TilePlace): Promise<Tile | null> {
    const search = this.#layout.find(place)
    let step = search.next()
    while (!step.done) step = search.next(await this.read(step.value))
    const section = step.value
    if (section === null) return null
    const file = await this.#fileFor(section)
    if (file === null) return null
    const release = file.handle.acquire()
    if (section.length <= SMALL_BYTES || section.head !== undefined) {
      try {
        if (section.length > MAX_JOINED_BYTES) throw new BrokenArchiveError('a tile is larger than allowed')
        return this.#toTile(section, file, joined(section, await readExactly(file.fd, section.offset, section.length)))
      } finally {
        release()
      }
    }
    let isKept = false
    try {
      const start = await readExactly(file.fd, section.offset, SIGNATURE_BYTES)
      const { offset, length } = section
      const remote = this.#spec.isRemote ? this.#spec.root : undefined
      const tile = this.#toTile(section, file, start)
      isKept = true
      return { ...tile, body: { fd: file.fd, offset, length, remote, release } }
    } finally {
      if (!isKept) release()
    }
  }

  has(place: TilePlace): boolean | undefined {
    const section = this.#sectionIfCached(place)
    return section === undefined ? undefined : section !== null
  }

  /** Returns undefined if a part of an index must be read. */
  #sectionIfCached(place: TilePlace): TileSection | null | undefined {
    const search = this.#layout.find(place)
    let step = search.next()
    while (!step.done) {
      const bytes = this.#readIfCached(step.value)
      if (bytes === null) return undefined
      step = search.next(bytes)
    }
    return step.value
  }

  #readIfCached({ path, offset, length }: FileSection): Uint8Array | null {
    const file = this.#files.get(path)
    return file === undefined ? null : (this.#cached?.read(file.fd, offset, length) ?? null)
  }

  tileIfCached(place: TilePlace): Tile | null | undefined {
    const section = this.#sectionIfCached(place)
    if (section === null || section === undefined) return section
    const file = this.#files.get(section.path)
    if (file === undefined || section.length > SMALL_BYTES || beyond(section, file)) return undefined
    const bytes = this.#readIfCached(section)
    return bytes === null ? undefined : this.#toTile(section, file, joined(section, bytes))
  }

  layout(): SourceLayout | null {
    const { archive, bundles } = this.#layout
    if (this.#spec.isRemote || this.#cached === null) return null
    if (bundles !== undefined) return { kind: 'bundles', ...bundles }
    const file = this.#files.get(this.#spec.path)
    if (archive === undefined || file === undefined) return null
    const { fd, size, identity, modifiedMs } = file
    const { minZoom, maxZoom, root, head } = archive
    const header = { minZoom, maxZoom, leaves: { offset: 0, length: NUMBERS }, tiles: { offset: 0, length: size } }
    return { kind: 'archive', archive: { fd, identity, modifiedMs, header, root, ...(head && { head }) } }
  }

  *knownLeaves(place: TilePlace): Generator<readonly [offset: number, leaf: Directory]> {
    const { archive } = this.#layout
    const offset = archive?.leafOf(place) ?? 0
    const file = this.#files.get(this.#spec.path)
    if (archive === undefined || offset === 0 || file === undefined) return
    const leaf = this.#leafInMemory(archive.leaf(place, file.identity), file)
    if (leaf !== null && leaf.tileIds.length > 0) yield [offset, leaf]
  }

  /** Returns null if not all of its parts are in memory, or if it is broken, which requests for its tiles report. */
  #leafInMemory(search: ReturnType<ArchiveOfRanges['leaf']>, file: OpenFile): Directory | null {
    try {
      let step = search.next()
      while (!step.done) {
        const { offset, length } = step.value
        const bytes = beyond(step.value, file) ? null : (this.#cached?.read(file.fd, offset, length) ?? null)
        if (bytes === null) return null
        step = search.next(bytes)
      }
      return step.value
    } catch (error) {
      if (error instanceof BrokenArchiveError) return null
      throw error
    }
  }

  addresses(zoom: number): AsyncIterable<readonly [x: number, y: number]> {
    return this.#layout.addresses(zoom, (section) => this.read(section))
  }

  close(): void {
    this.#files.clear()
  }

  /** Returns null if the file does not exist. */
  async read(section: FileSection): Promise<Uint8Array | null> {
    const file = await this.#fileFor(section)
    if (file === null) return null
    const release = file.handle.acquire()
    try {
      return await readExactly(file.fd, section.offset, section.length)
    } finally {
      release()
    }
  }

  /** Returns null if the file does not exist. Reopens a file that has grown. */
  async #fileFor(section: FileSection): Promise<OpenFile | null> {
    const known = this.#files.get(section.path)
    if (known !== undefined && !beyond(section, known)) return known
    const opened = await openBelow(this.#spec.root, section.path)
    if (!opened.ok) {
      if (opened.reason === 'unreadable') throw new Error('the archive exists, but may not be read')
      return null
    }
    const { fd, size, identity, mtimeMs } = opened
    // Closing may block on a network file system.
    const file = { fd, size, identity, modifiedMs: mtimeMs, handle: new SharedHandle(() => fs.close(fd, () => {})) }
    this.#files.set(section.path, file)
    if (beyond(section, file)) throw new BrokenArchiveError('an index points beyond the end of its file')
    return file
  }

  #toTile({ offset, length }: FileSection, { identity, modifiedMs }: OpenFile, body: Uint8Array): Tile {
    const place = `${offset.toString(36)}-${length.toString(36)}`
    return { body, ...kindOf(this.#spec.format, body), identity: `${identity}-${place}`, modifiedMs, file: null }
  }
}

function beyond({ offset, length }: FileSection, { size }: OpenFile): boolean {
  return offset + length > size
}

function joined({ head }: TileSection, bytes: Uint8Array): Uint8Array {
  if (head === undefined) return bytes
  const body = new Uint8Array(head.length + bytes.length)
  body.set(head)
  body.set(bytes, head.length)
  return body
}

/** Reads the sections that a search requests until it ends. */
export async function finish<T>(search: Generator<FileSection, T, Uint8Array | null>, read: ReadSection): Promise<T> {
  let step = search.next()
  while (!step.done) step = search.next(await read(step.value))
  return step.value
}
