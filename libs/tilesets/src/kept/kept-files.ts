import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { writeFileAtomically, writeUnderTemporaryName } from '@gateway/core/files/write-atomically.js'
import { kindOf, SIGNATURE_BYTES } from '../formats.js'
import type { BlockCache } from '../remote/block-cache.js'
import { type CachedReader, SMALL_BYTES, type SourceSpec, type Tile } from '../source.js'

/** Bytes that a file takes of the disk at least, for the account of the cache. */
const LEAST_BYTES = 4096

/** Facts about the content of a kept tile, to ask for it only if it has changed. */
export interface Validators {
  /** null: none was given with the content, or it was not kept */
  readonly etag: string | null
  /** milliseconds since 1970, to the second */
  readonly modifiedMs: number
  readonly bytes: number
  /** true if the content was given with this tag, also if the tag was not kept (of different tags, one in a million) */
  hasTag(etag: string): boolean
}

/** A file that was found. `absent`: the maker said that there is no tile. `ageMs`: since it was made, or found to be current. */
export type Found =
  | { readonly kind: 'tile'; readonly tile: Tile; readonly ageMs: number }
  | { readonly kind: 'absent'; readonly ageMs: number }

/**
 * Tiles as files of one folder of the cache: `{z}/{x}/{y}.{extension}`. A file of no bytes is a tile that does not exist. The modification time holds
 * that of the content, to the second, with a digest of its tag in the digits below, so that each host names the same content by the same ETag. The
 * time of change of the inode (ctime) tells when it was last found to be current.
 */
export class KeptFiles {
  readonly #folder: string
  readonly #format: SourceSpec['format']
  readonly #cache: BlockCache
  readonly #cached: CachedReader | null

  constructor(folder: string, format: SourceSpec['format'], cache: BlockCache, cached: CachedReader | null) {
    this.#folder = folder
    this.#format = format
    this.#cache = cache
    this.#cached = cached
  }

  pathOf(name: string): string {
    return path.join(this.#folder, name)
  }

  /** Returns null if it does not exist, or cannot be read. The caller releases the body of a large tile. */
  async read(name: string): Promise<Found | null> {
    if (this.#cache.capacityBytes === 0) return null
    try {
      const file = await fs.promises.open(this.pathOf(name))
      let isHandedOn = false
      try {
        const { mtimeNs, ctimeMs, size } = await file.stat({ bigint: true })
        // biome-ignore lint/plugin: calendar, of files
        const ageMs = Math.abs(Date.now() - Number(ctimeMs))
        if (size === 0n) return { kind: 'absent', ageMs }
        const modified = microsecondsOf(mtimeNs)
        if (size <= SMALL_BYTES) return { kind: 'tile', tile: this.toTile(await file.readFile(), modified), ageMs }
        const { buffer } = await file.read(Buffer.alloc(SIGNATURE_BYTES), 0, SIGNATURE_BYTES, 0)
        isHandedOn = true
        return {
          kind: 'tile',
          tile: this.#toPart(buffer, modified, Number(size), file.fd, () => void file.close()),
          ageMs,
        }
      } finally {
        if (!isHandedOn) await file.close()
      }
    } catch {
      return null
    }
  }

  /** Returns a tile whose file is in the memory of the kernel; undefined if only `read` can tell. */
  readIfCached(name: string): Tile | undefined {
    const found = this.#cached?.open(this.pathOf(name)) ?? 'not_now'
    if (typeof found === 'string') return undefined
    const { fd, content, size } = found
    const modified = microsecondsOf(found.mtimeNs)
    const start = content ?? (fd === null ? null : (this.#cached?.read(fd, 0, SIGNATURE_BYTES) ?? null))
    if (start === null || size === 0n || !found.isFile || (content === null && fd === null)) {
      if (fd !== null) fs.closeSync(fd)
      return undefined
    }
    const { counts } = this.#cache
    counts.servedTiles++
    counts.servedBytes += Number(size)
    if (content === null) {
      return this.#toPart(start, modified, Number(size), fd as number, () => fs.closeSync(fd as number))
    }
    if (fd !== null) fs.closeSync(fd)
    return this.toTile(content, modified)
  }

  /** Returns what the maker said about the content of a file. */
  async validatorsOf(name: string): Promise<Validators | null> {
    try {
      const { mtimeNs, size } = await fs.promises.stat(this.pathOf(name), { bigint: true })
      if (size === 0n) return null
      const modified = microsecondsOf(mtimeNs)
      const said = await fs.promises.readFile(this.#tagFile(name), 'utf8').catch(() => null)
      const hasTag = (tag: string) => markOf(tag) === modified % 1_000_000n
      // A tag of another content was left by a killed writer.
      const etag = said !== null && hasTag(said) ? said : null
      return { etag, hasTag, modifiedMs: Number(modified / 1_000_000n) * 1000, bytes: Number(size) }
    } catch {
      return null
    }
  }

  /** Returns the modification time for a tile's file, which does not exist yet if `isNew`. If its content has no time, it is that of the file with the same content, or now. */
  async modifiedFor(
    name: string,
    made: { readonly bytes: Uint8Array; readonly etag?: string | null; readonly modifiedMs?: number | null },
    isNew = false,
  ): Promise<bigint> {
    const said = made.etag ?? made.bytes
    if (typeof made.modifiedMs === 'number') return modifiedOf(made.modifiedMs, said)
    const before = isNew ? null : await fs.promises.stat(this.pathOf(name), { bigint: true }).catch(() => null)
    const known = before === null ? 0n : microsecondsOf(before.mtimeNs)
    const isSame = before?.size === BigInt(made.bytes.length) && known % 1_000_000n === markOf(said)
    // biome-ignore lint/plugin: calendar, of files
    return isSame ? known : modifiedOf(Date.now(), said)
  }

  /** Writes a tile completely or not at all. null: the tile does not exist. @returns true if it is on the disk */
  async write(name: string, bytes: Uint8Array | null, modified: bigint, etag: string | null): Promise<boolean> {
    const file = this.pathOf(name)
    return this.#change(async () => {
      await inFolder(path.dirname(file), async () => {
        if (etag !== null) await writeFileAtomically(this.#tagFile(name), etag, { mode: 0o600 })
        await writeUnderTemporaryName(file, async (temporary) => {
          await fs.promises.writeFile(temporary, bytes ?? '', { mode: 0o600, flag: 'wx' })
          await fs.promises.utimes(temporary, secondsFor(modified), secondsFor(modified))
        })
      })
      this.#cache.filled(Math.max(bytes?.length ?? 0, LEAST_BYTES) + (etag === null ? 0 : LEAST_BYTES))
    })
  }

  /** Notes that a tile is current. @returns false if it is not there any more */
  async renew(name: string): Promise<boolean> {
    const file = this.pathOf(name)
    return this.#change(async () => {
      const { mtimeNs } = await fs.promises.stat(file, { bigint: true })
      const seconds = secondsFor(microsecondsOf(mtimeNs))
      await fs.promises.utimes(file, seconds, seconds)
    })
  }

  toTile(bytes: Uint8Array, modified: bigint): Tile {
    const identity = `${modified.toString(36)}-${bytes.length.toString(36)}`
    return { body: bytes, ...kindOf(this.#format, bytes), identity, modifiedMs: Number(modified / 1000n), file: null }
  }

  #toPart(start: Uint8Array, modified: bigint, length: number, fd: number, release: () => void): Tile {
    const identity = `${modified.toString(36)}-${length.toString(36)}`
    const body = { fd, offset: 0, length, isCached: true, release }
    return { body, ...kindOf(this.#format, start), identity, modifiedMs: Number(modified / 1000n), file: null }
  }

  async #change(work: () => Promise<void>): Promise<boolean> {
    if (!this.#cache.mayFill) return false
    try {
      await work()
      return true
    } catch (error) {
      // A tile that was evicted meanwhile is no fault of the disk.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#cache.failed(error)
      return false
    }
  }

  #tagFile(name: string): string {
    const file = this.pathOf(name)
    return path.join(path.dirname(file), `.${path.basename(file)}.tag`)
  }
}

/** Runs work in a folder, which is created if it does not exist. */
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await fs.promises.mkdir(folder, { recursive: true, mode: 0o700 })
    return await work()
  }
}

/**
 * Returns the modification time of a tile's file, in microseconds since 1970: that of the content to the second, with a digest in the digits below.
 * @param said the tag of the content, or its bytes if it has no tag
 */
function modifiedOf(modifiedMs: number, said: string | Uint8Array): bigint {
  return BigInt(Math.floor(modifiedMs / 1000)) * 1_000_000n + markOf(said)
}

function markOf(said: string | Uint8Array): bigint {
  return BigInt(createHash('sha256').update(said).digest().readUInt32LE(0) % 1_000_000)
}

/**
 * Converts microseconds since 1970 for `utimes`, so that they are read back unchanged. `utimes` takes seconds as a double, whose resolution
 * is a quarter of a microsecond today, and Node truncates the rest to microseconds or nanoseconds, depending on its version. Adding a quarter
 * keeps both from falling into the previous microsecond. Valid until 2038, when doubles become coarser.
 */
export function secondsFor(microseconds: bigint): number {
  return (Number(microseconds) + 0.25) / 1e6
}

export function microsecondsOf(mtimeNs: bigint): bigint {
  return (mtimeNs + 500n) / 1000n
}
