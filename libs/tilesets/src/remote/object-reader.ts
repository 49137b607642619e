import { createHash } from 'node:crypto'
import { ObjectReplaced, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectFacts, ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { BrokenArchiveError } from '../broken-archive.js'
import type { FileInExtents, OpenExtent } from '../extents.js'
import type { ArchiveBytes } from '../pmtiles/source.js'
import { readExactly } from '../read-exactly.js'
import type { CachedReader, FilePart } from '../source.js'
import { BLOCK_BYTES, type BlockCache, type Extent } from './block-cache.js'

/** One object of a store. */
export interface RemoteObject {
  readonly store: ObjectStore
  readonly key: string
}

/** Maximum bytes of one section in memory, a directory or a tile. */
const MAX_SECTION_BYTES = 64 * 1024 * 1024
/** Bytes of a long section that are read at once. */
const PIECE_BYTES = 1024 * 1024
/** Maximum bytes of one request. */
const MAX_RUN_BYTES = 4 * 1024 * 1024

export interface Section {
  readonly offset: number
  readonly length: number
}

/**
 * Reads one content of a remote object, identified by its ETag: all data is of that content, or `ObjectReplaced` is thrown. Blocks come from the cache
 * or by one request for all waiting callers. Failures are not cached.
 */
export class ObjectReader implements ArchiveBytes {
  readonly facts: ObjectFacts
  /** identifies the content: letters and digits */
  readonly name: string
  readonly extents: FileInExtents
  readonly #store: ObjectStore
  readonly #key: string
  readonly #cache: BlockCache
  readonly #cached: CachedReader | null
  readonly #coming = new Map<number, Promise<Buffer>>()

  constructor(
    { store, key, facts }: { readonly store: ObjectStore; readonly key: string; readonly facts: ObjectFacts },
    cache: BlockCache,
    cached: CachedReader | null,
  ) {
    this.facts = facts
    this.name = nameOf(`${store.url}/${key}`, facts)
    this.#store = store
    this.#key = key
    this.#cache = cache
    this.#cached = cached
    const { extentBytes } = cache
    this.extents = { extentBytes, blockBytes: BLOCK_BYTES, of: (section) => this.#openExtents(section) }
  }

  async read(section: Section): Promise<Uint8Array> {
    const { offset, length } = section
    if (length > MAX_SECTION_BYTES) throw new BrokenArchiveError('a tile is larger than can be read from elsewhere')
    if (offset + length > this.facts.size) throw new BrokenArchiveError('the archive ends before its content does')
    return (await this.#readHere(section)) ?? (await this.#readBlocks(section))
  }

  /** Yields a section of any length: a short one like a tile, a long one without the cache, from which it would evict tiles. */
  async *pieces({ offset, length }: Section): AsyncGenerator<Uint8Array> {
    if (length <= PIECE_BYTES) {
      if (length > 0) yield await this.read({ offset, length })
      return
    }
    for (let done = 0; done < length; done += PIECE_BYTES) {
      const piece = { offset: offset + done, length: Math.min(PIECE_BYTES, length - done) }
      yield (await this.#readHere(piece)) ?? (await this.#request(piece))
    }
  }

  readIfCached(section: Section): Uint8Array | null {
    const here = this.#here(section)
    return here === null ? null : (this.#cached?.read(here.extent.fd, here.at, section.length) ?? null)
  }

  async part(section: Section): Promise<FilePart | Uint8Array> {
    return this.partIfCached(section) ?? (await this.read(section))
  }

  partIfCached(section: Section): FilePart | null {
    const here = this.#here(section)
    if (here === null) return null
    const release = here.extent.handle.acquire()
    return { fd: here.extent.fd, offset: here.at, length: section.length, isCached: true, release }
  }

  close(): void {}

  /** Returns the position of a section on the disk; null if it is incomplete there, or spans several extents. */
  #here({ offset, length }: Section): { readonly extent: Extent; readonly at: number } | null {
    const { extentBytes } = this.#cache
    const index = Math.floor(offset / extentBytes)
    const at = offset - index * extentBytes
    if (at + length > extentBytes) return null
    const extent = this.#cache.opened(this.name, index)
    if (extent === undefined) return null
    const last = Math.floor((at + length - 1) / BLOCK_BYTES)
    for (let block = Math.floor(at / BLOCK_BYTES); block <= last; block++) if (extent.present[block] !== 1) return null
    return { extent, at }
  }

  *#openExtents({ offset, length }: Section): Iterable<OpenExtent> {
    const { extentBytes } = this.#cache
    for (let index = Math.floor(offset / extentBytes); index * extentBytes < offset + length; index++) {
      const extent = this.#cache.opened(this.name, index)
      if (extent !== undefined) yield extent
    }
  }

  async #readHere(section: Section): Promise<Uint8Array | null> {
    const here = this.#here(section)
    if (here === null) return null
    const release = here.extent.handle.acquire()
    try {
      return await readExactly(here.extent.fd, here.at, section.length)
    } catch {
      return null
    } finally {
      release()
    }
  }

  async #readBlocks({ offset, length }: Section): Promise<Uint8Array> {
    const first = Math.floor(offset / BLOCK_BYTES)
    const last = Math.floor((offset + length - 1) / BLOCK_BYTES)
    // A separate buffer, so that a cached tile does not keep a whole block in memory.
    const bytes = Buffer.allocUnsafeSlow(length)
    const runBlocks = MAX_RUN_BYTES / BLOCK_BYTES
    for (let from = first; from <= last; from += runBlocks) {
      const to = Math.min(last, from + runBlocks - 1)
      const blocks = await Promise.all(this.#blocks(from, to))
      for (const [i, block] of blocks.entries()) {
        const start = (from + i) * BLOCK_BYTES - offset
        block.copy(bytes, Math.max(0, start), Math.max(0, -start))
      }
    }
    return bytes
  }

  /** Returns each block of a run. Blocks that nobody has requested yet are requested together. */
  #blocks(first: number, last: number): Promise<Buffer>[] {
    const wanted = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const missing = wanted.filter((block) => !this.#coming.has(block))
    if (missing.length > 0) {
      const run = this.#load(missing)
      for (const block of missing) {
        const coming = run.then((loaded) => loaded.get(block) as Buffer)
        this.#coming.set(block, coming)
      }
    }
    return wanted.map((block) => this.#coming.get(block) as Promise<Buffer>)
  }

  async #load(blocks: readonly number[]): Promise<ReadonlyMap<number, Buffer>> {
    const loaded = new Map<number, Buffer>()
    const forget = (block: number) => this.#coming.delete(block)
    try {
      const found = await Promise.all(blocks.map((block) => this.#cache.find(this.name, block, this.#lengthOf(block))))
      for (const [i, bytes] of found.entries()) if (bytes !== null) loaded.set(blocks[i] as number, bytes)
      const { counts } = this.#cache
      counts.hits += loaded.size
      counts.misses += blocks.length - loaded.size
      const fetched: number[] = []
      for (const run of runsOf(blocks.filter((block) => !loaded.has(block)))) {
        await this.#fetch(run, loaded)
        fetched.push(...run)
      }
      for (const block of blocks) {
        if (!fetched.includes(block)) forget(block)
        // Later callers must not fetch it again. The response does not wait for the disk.
        else void this.#cache.keep(this.name, block, loaded.get(block) as Buffer).finally(() => forget(block))
      }
      return loaded
    } catch (error) {
      for (const block of blocks) forget(block)
      throw error
    }
  }

  async #fetch(run: readonly number[], into: Map<number, Buffer>): Promise<void> {
    const offset = (run[0] as number) * BLOCK_BYTES
    const length = run.reduce((sum, block) => sum + this.#lengthOf(block), 0)
    const bytes = await this.#request({ offset, length })
    for (const [i, block] of run.entries()) into.set(block, bytes.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES))
  }

  async #request({ offset, length }: Section): Promise<Buffer> {
    const { etag, size } = this.facts
    const { bytes, facts } = await this.#store.read(this.#key, { offset, length }, { ifMatch: etag })
    // A server that ignores If-Match still returns the tag.
    if (facts.etag !== etag || facts.size !== size) throw new ObjectReplaced('the object has been replaced')
    if (bytes.length !== length) throw new ObjectStoreTrouble('the answer is shorter than the range asked for')
    this.#cache.counts.fetchedBytes += length
    return bytes
  }

  #lengthOf(block: number): number {
    return Math.min(BLOCK_BYTES, this.facts.size - block * BLOCK_BYTES)
  }
}

function nameOf(address: string, { etag, size }: ObjectFacts): string {
  return createHash('sha256').update(`${address}\n${etag}\n${size}`).digest('hex').slice(0, 32)
}

/** Groups consecutive numbers. */
function runsOf(blocks: readonly number[]): number[][] {
  const runs: number[][] = []
  for (const block of blocks) {
    const run = runs.at(-1)
    if (run !== undefined && run.at(-1) === block - 1) run.push(block)
    else runs.push([block])
  }
  return runs
}
