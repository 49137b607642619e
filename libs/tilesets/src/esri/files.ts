import fs from 'node:fs'
import path from 'node:path'
import { openBelow } from '@gateway/core/files/open-below.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { listNames } from '../folder/listing.js'
import type { FileSection } from '../ranges/source.js'
import { dataOffset, LOCAL_HEAD_BYTES, readZipDirectory, readZipEntry, shown, type ZipEntry } from '../ranges/zip.js'
import { readExactly } from '../read-exactly.js'

/** Maximum size in bytes of the files that describe a cache; those of large caches have some tens of thousands. */
const MAX_DESCRIPTION_BYTES = 4 * 1024 * 1024

/** A file of a cache as a part of a file on the disk. */
export interface PlacedFile {
  readonly path: string
  readonly offset: number
  /** null: to the end */
  readonly length: number | null
}

/** The files of a cache, in a folder or in an uncompressed zip. Names contain forward slashes. */
export interface CacheFiles {
  /** Returns null if the file does not exist. */
  read(name: string): Promise<Buffer | null>
  /** Returns the names of files and folders in a folder. */
  list(folder: string): Promise<readonly string[]>
  /** Returns null if the file does not exist. Throws `BrokenArchiveError`. */
  place(name: string): Generator<FileSection, PlacedFile | null, Uint8Array | null>
  /** Returns a text that changes when a file may have changed. */
  stamp(name: string): Promise<string>
}

export class FolderFiles implements CacheFiles {
  readonly #root: string
  readonly #folder: string

  constructor(root: string, folder: string) {
    this.#root = root
    this.#folder = folder
  }

  async read(name: string): Promise<Buffer | null> {
    const opened = await openBelow(this.#root, path.join(this.#folder, name))
    if (!opened.ok) return null
    try {
      if (opened.size > MAX_DESCRIPTION_BYTES) throw new BrokenArchiveError(`${name} is larger than allowed`)
      return await readExactly(opened.fd, 0, opened.size)
    } finally {
      fs.close(opened.fd, () => {})
    }
  }

  list(folder: string): Promise<readonly string[]> {
    return listNames(this.#root, path.join(this.#folder, folder))
  }

  // biome-ignore lint/correctness/useYield: a folder needs no reads
  *place(name: string): Generator<FileSection, PlacedFile | null> {
    return { path: `${this.#folder}/${name}`, offset: 0, length: null }
  }

  async stamp(name: string): Promise<string> {
    const stat = await fs.promises.stat(path.join(this.#folder, name), { bigint: true }).catch(() => null)
    return stat === null ? 'gone' : `${stat.mtimeNs.toString(36)}-${stat.size.toString(36)}`
  }
}

export class ZipFiles implements CacheFiles {
  readonly #path: string
  readonly #fd: number
  readonly #entries: ReadonlyMap<string, ZipEntry>
  readonly #folders: ReadonlyMap<string, readonly string[]>
  readonly #offsets = new Map<string, number>()

  private constructor(path: string, fd: number, entries: ReadonlyMap<string, ZipEntry>) {
    this.#path = path
    this.#fd = fd
    this.#entries = entries
    this.#folders = foldersOf(entries.keys())
  }

  /** @param fd used only by `read`, and closed by the caller */
  static async open(path: string, fd: number): Promise<ZipFiles> {
    return new ZipFiles(path, fd, await readZipDirectory(fd))
  }

  async read(name: string): Promise<Buffer | null> {
    const entry = this.#entries.get(name)
    return entry === undefined ? null : readZipEntry(this.#fd, entry, MAX_DESCRIPTION_BYTES)
  }

  async list(folder: string): Promise<readonly string[]> {
    return this.#folders.get(folder.replace(/\/$/, '')) ?? []
  }

  *place(name: string): Generator<FileSection, PlacedFile | null, Uint8Array | null> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return null
    if (entry.method !== 0) {
      throw new BrokenArchiveError(
        `its entry ${shown(name)} is compressed: make the zip again without compression (zip -0)`,
      )
    }
    let offset = this.#offsets.get(name)
    if (offset === undefined) {
      const head = yield { path: this.#path, offset: entry.headOffset, length: LOCAL_HEAD_BYTES }
      if (head === null) return null
      offset = dataOffset(entry, head)
      this.#offsets.set(name, offset)
    }
    return { path: this.#path, offset, length: entry.length }
  }

  async stamp(): Promise<string> {
    return ''
  }
}

function foldersOf(names: Iterable<string>): Map<string, string[]> {
  const folders = new Map<string, Set<string>>()
  for (const name of names) {
    const segments = name.split('/').filter((segment) => segment !== '')
    for (const [i, segment] of segments.entries()) {
      const folder = segments.slice(0, i).join('/')
      const known = folders.get(folder)
      if (known === undefined) folders.set(folder, new Set([segment]))
      else known.add(segment)
    }
  }
  return new Map([...folders].map(([folder, inside]) => [folder, [...inside]]))
}
