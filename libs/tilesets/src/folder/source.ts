import fs from 'node:fs'
import path from 'node:path'
import { fileIdentity, openBelow } from '@gateway/core/files/open-below.js'
import { flipRow } from '../address.js'
import { fileExtensions, kindOf, SIGNATURE_BYTES } from '../formats.js'
import { FOLDER_LAYOUTS } from '../layouts/layout.js'
import { readExactly } from '../read-exactly.js'
import {
  type CachedReader,
  type FolderNames,
  SMALL_BYTES,
  type Source,
  type SourceLayout,
  type SourceSpec,
  type Tile,
  type TilePlace,
} from '../source.js'

const NS_PER_MS = 1_000_000n

/** The facts that both ways of opening a tile's file return. */
interface TileFileFacts {
  /** null: a small file, which was read and closed */
  readonly fd: number | null
  readonly size: number
  readonly identity: string
  readonly modifiedMs: number
}

/** Opens a version stored as `{folder}/{z}/{x}/{y}.{extension}`, with rows as its storage counts them, or by other names. */
export async function openFolder(
  spec: SourceSpec,
  cached: CachedReader | null,
  names: FolderNames = { form: 'xyz', folder: spec.path, fromSouth: spec.storage === 'tms', levels: null },
): Promise<Source> {
  const realRoot = await fs.promises.realpath(spec.root).catch(() => null)
  return new FolderSource(spec, realRoot === null ? null : cached, path.join(realRoot ?? '', path.sep), names)
}

class FolderSource implements Source {
  readonly #spec: SourceSpec
  readonly #cached: CachedReader | null
  /** Real path of the root when it was opened, with a final slash. `tile` detects whether it has changed. */
  readonly #realRoot: string
  /** extensions of the files' names; several if the set has several formats */
  readonly #extensions: readonly string[]
  readonly #names: FolderNames

  constructor(spec: SourceSpec, cached: CachedReader | null, realRoot: string, names: FolderNames) {
    this.#names = names
    this.#spec = spec
    this.#cached = cached
    this.#realRoot = realRoot
    this.#extensions = fileExtensions(spec)
  }

  async tile(place: TilePlace): Promise<Tile | null> {
    for (const extension of this.#extensions) {
      const file = this.#pathOf(place, extension)
      const tile = file === null ? null : await this.#read(file)
      if (tile !== null) return tile
    }
    return null
  }

  async #read(file: string): Promise<Tile | null> {
    const opened = await openBelow(this.#spec.root, file)
    if (!opened.ok) {
      if (opened.reason === 'unreadable') throw new Error('the tile exists, but may not be read')
      return null
    }
    const { fd, size, identity, mtimeMs } = opened
    let isKept = false
    try {
      if (size === 0) return null
      const isSmall = size <= SMALL_BYTES
      const start = await readExactly(fd, 0, isSmall ? size : SIGNATURE_BYTES)
      isKept = !isSmall
      return this.#toTile(file, { fd: isSmall ? null : fd, size, identity, modifiedMs: mtimeMs }, start)
    } finally {
      if (!isKept) fs.close(fd, () => {})
    }
  }

  tileIfCached(place: TilePlace): Tile | null | undefined {
    for (const extension of this.#extensions) {
      const file = this.#pathOf(place, extension)
      const tile = file === null ? null : this.#readIfCached(file)
      if (tile !== null) return tile
    }
    return null
  }

  has(place: TilePlace): boolean | undefined {
    for (const extension of this.#extensions) {
      const file = this.#pathOf(place, extension)
      const found = file === null ? 'absent' : (this.#cached?.look(file) ?? 'not_now')
      if (found === 'absent') continue
      // `tile` judges what leads out of the root, or is no plain file.
      if (found === 'not_now' || !this.#isProven(found)) return undefined
      if (found.size > 0n) return true
    }
    return false
  }

  #isProven({ isFile, realPath }: { readonly isFile: boolean; readonly realPath: string }): boolean {
    return isFile && realPath.startsWith(this.#realRoot)
  }

  #readIfCached(file: string): Tile | null | undefined {
    const found = this.#cached?.open(file) ?? 'not_now'
    if (found === 'absent') return null
    if (found === 'not_now') return undefined
    const { fd, size, mtimeNs } = found
    const isProven = this.#isProven(found)
    if (isProven && found.size === 0n) {
      if (fd !== null) fs.closeSync(fd)
      return null
    }
    const start = isProven ? (found.content ?? this.#readSignature(fd as number)) : null
    if (start !== null) {
      const modifiedMs = Number(mtimeNs / NS_PER_MS)
      return this.#toTile(file, { fd, size: Number(size), identity: fileIdentity(found), modifiedMs }, start)
    }
    if (fd !== null) fs.closeSync(fd)
    return undefined
  }

  layout(): SourceLayout | null {
    // The native tier knows one name for each tile.
    const [extension, other] = this.#extensions
    const isRead = this.#cached !== null && extension !== undefined && other === undefined
    return isRead ? { kind: 'folder', extension, ...this.#names } : null
  }

  close(): void {}

  /** Returns null if the set has no such path. */
  #pathOf({ z, x, y, suffix = '' }: TilePlace, extension: string): string | null {
    const { form, folder, fromSouth, levels } = this.#names
    const level = levels === null ? z : levels.get(z)
    if (level === undefined) return null
    const row = fromSouth ? flipRow(z, y) : y
    if (form === 'xyz') return `${folder}/${level}/${x}/${row}${suffix}.${extension}`
    return suffix === '' ? `${folder}/${FOLDER_LAYOUTS[form].write({ z: level, x, y: row })}.${extension}` : null
  }

  #readSignature(fd: number): Uint8Array | null {
    return this.#cached?.read(fd, 0, SIGNATURE_BYTES) ?? null
  }

  /** @param start all bytes of a small file; the signature of a large one */
  #toTile(file: string, { fd, size, identity, modifiedMs }: TileFileFacts, start: Uint8Array): Tile {
    const { root, isRemote, format } = this.#spec
    const about = { ...kindOf(format, start), identity, modifiedMs }
    if (fd === null) return { ...about, body: start, file: { root, path: file, identity } }
    const body = {
      fd,
      offset: 0,
      length: size,
      remote: isRemote ? root : undefined,
      release: () => fs.close(fd, () => {}),
    }
    return { ...about, body, file: { root, path: file, identity } }
  }
}
