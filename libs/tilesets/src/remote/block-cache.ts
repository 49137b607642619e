import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { SharedHandle } from '@gateway/core/files/shared-handle.js'
import { LRUCache } from 'lru-cache'
import { BrokenArchiveError } from '../broken-archive.js'
import type { OpenExtent } from '../extents.js'
import { readExactly } from '../read-exactly.js'
import { makeRoom, type Room } from './make-room.js'

/** What is asked for at once, and kept or not: at this size map traffic needs one request for ten tiles. */
export const BLOCK_BYTES = 128 * 1024
/** What makes room at once. Each open one holds a descriptor. */
export const EXTENT_BYTES = 16 * 1024 * 1024
/** Limit: extents open in a process; 8 GB where they are full. */
const MAX_OPEN = 512
/** Behind an extent's blocks, for each: CRC-32 of its bytes, and this mark. What is absent or cut is zeros. */
const ENTRY_BYTES = 8
const MARK = 0x31_63_6c_62
/** Uses are noted so often; what was not used for longest makes room first. */
const NOTE_USE_MS = 60_000
/** How often extents that others have evicted are looked for, to give their room back. */
const UPKEEP_MS = 10_000
/** How long nothing is written after the disk refused it. */
const PAUSE_MS = 30_000
/** The part of the capacity that is left when room was made, and the part that the processes of a host may fill until they look again. */
const KEPT_PART = 0.9
const FILL_PART = 0.05
/** Limit: blocks that wait to be written; on a disk that is slower than that, they are not. */
const MAX_WRITES = 64
/** Limit: bytes of blocks in memory, where there is no disk for them. */
const MEMORY_BYTES = 32 * 1024 * 1024

const write = promisify(fs.write)
const openFile = promisify(fs.open)
const fstat = promisify(fs.fstat) as (fd: number) => Promise<fs.Stats>
const futimes = promisify(fs.futimes)

export interface BlockCacheOptions {
  /** absolute; made where it is missing */
  readonly directory: string
  /** of all processes that share the directory; 0: nothing is kept on disk */
  readonly capacityBytes: number
  /** how many processes share it */
  readonly processes: number
  /** The disk does not take or give what it should; called once until it does again. */
  readonly onTrouble: (error: unknown) => void
  readonly onWorking: () => void
  readonly extentBytes?: number
}

export interface Extent extends OpenExtent {
  readonly handle: SharedHandle
  readonly isWritable: boolean
  /** by `performance.now()`, as it was noted last */
  usedAtMs: number
}

/** What a process has counted since its start. */
export interface CacheCounts {
  /** blocks that this process did not know to be on disk, and tiles of folders: found there, or fetched */
  hits: number
  misses: number
  fetchedBytes: number
  /** tiles that were read from disk with no waiting */
  servedTiles: number
  servedBytes: number
  /** blocks that were written to disk */
  keptBlocks: number
  evictions: number
  /** in the directory when room was last made */
  keptBytes: number
  /** 1 while the disk refuses */
  failing: 0 | 1
}

/**
 * Blocks of remote objects on this machine's disk, shared by processes and kept over restarts. An object's name stands for its content, so blocks
 * never change. A block counts as here once its checksum stands behind it and is that of its bytes, whoever was killed while it came, and
 * whatever the disk made of it. Nothing here rejects: what the disk refuses is absent, and is kept in memory for a while.
 */
export class BlockCache {
  readonly counts: CacheCounts = {
    hits: 0,
    misses: 0,
    fetchedBytes: 0,
    servedTiles: 0,
    servedBytes: 0,
    keptBlocks: 0,
    evictions: 0,
    keptBytes: 0,
    failing: 0,
  }
  readonly extentBytes: number
  readonly #options: BlockCacheOptions
  readonly #open = new LRUCache<string, Extent>({ max: MAX_OPEN, dispose: ({ handle }) => handle.retire() })
  readonly #opening = new Map<string, Promise<Extent | null>>()
  readonly #memory = new LRUCache<string, Buffer>({ maxSize: MEMORY_BYTES, sizeCalculation: (block) => block.length })
  readonly #writing = new Map<string, Promise<void>>()
  readonly #upkeep: NodeJS.Timeout | null = null
  #pausedUntilMs = 0
  #filledBytes: number
  #makingRoom: Promise<void> | null = null

  constructor(options: BlockCacheOptions) {
    this.#options = options
    this.extentBytes = options.extentBytes ?? EXTENT_BYTES
    // The first block that comes makes it look at what is there.
    this.#filledBytes = options.capacityBytes
    if (options.capacityBytes > 0) this.#upkeep = setInterval(() => void this.#dropEvicted(), UPKEEP_MS).unref()
  }

  get directory(): string {
    return this.#options.directory
  }

  get capacityBytes(): number {
    return this.#options.capacityBytes
  }

  /** Whether files may be put into the directory at this moment. */
  get mayFill(): boolean {
    return this.capacityBytes > 0 && performance.now() >= this.#pausedUntilMs
  }

  /** An extent that is open. @param name of the object: letters, digits and hyphens */
  opened(name: string, index: number): Extent | undefined {
    const extent = this.#open.get(keyOf(name, index))
    if (extent !== undefined) this.#noteUse(extent)
    return extent
  }

  /** A block out of memory, or of the disk; null: it must be fetched. `length` is what the object has of it. */
  async find(name: string, block: number, length: number): Promise<Buffer | null> {
    const kept = this.#memory.get(keyOf(name, block))
    if (kept !== undefined) {
      // Only on disk is it where others read it, and where nothing waits for it.
      void this.keep(name, block, kept)
      return kept
    }
    const { index, at } = this.#placeOf(block)
    const extent = await this.#extent(name, index, false)
    if (extent === null) return null
    const release = extent.handle.acquire()
    try {
      const entry = await readExactly(extent.fd, this.extentBytes + at * ENTRY_BYTES, ENTRY_BYTES)
      if (entry.readUInt32LE(4) !== MARK) return null
      const bytes = await readExactly(extent.fd, at * BLOCK_BYTES, length)
      if (crc32(bytes) !== entry.readUInt32LE(0)) return null
      extent.present[at] = 1
      return bytes
    } catch (error) {
      // It is shorter than an extent: its first block is on its way, or never came.
      if (error instanceof BrokenArchiveError) return null
      this.#open.delete(keyOf(name, index))
      this.failed(error)
      return null
    } finally {
      release()
    }
  }

  /** Keeps a block that was fetched: on disk; in memory while the disk takes none or is too slow, until it is asked for when the disk takes it. */
  keep(name: string, block: number, bytes: Buffer): Promise<void> {
    const key = keyOf(name, block)
    const writing = this.#writing.get(key)
    if (writing !== undefined) return writing
    const own = this.#write(name, block, bytes).then((isOnDisk) => {
      this.#writing.delete(key)
      if (isOnDisk) this.#memory.delete(key)
      else if (!this.#memory.has(key)) this.#memory.set(key, Buffer.from(bytes))
    })
    this.#writing.set(key, own)
    return own
  }

  /** Gives descriptors back as answers end. */
  close(): void {
    if (this.#upkeep !== null) clearInterval(this.#upkeep)
    this.#open.clear()
  }

  /** Counts bytes that were put into the directory, and makes room where that is due. */
  filled(bytes: number): void {
    const { capacityBytes, processes } = this.#options
    this.#filledBytes += bytes
    if (capacityBytes === 0 || this.#makingRoom !== null) return
    if (this.#filledBytes < (capacityBytes * FILL_PART) / processes) return
    this.#filledBytes = 0
    this.#makingRoom = makeRoom(this.directory, capacityBytes * KEPT_PART, capacityBytes * (1 - FILL_PART))
      .then(
        (room) => this.#made(room),
        (error) => this.failed(error),
      )
      .finally(() => {
        this.#makingRoom = null
        // What came meanwhile was not looked at.
        this.filled(0)
      })
  }

  async #write(name: string, block: number, bytes: Buffer): Promise<boolean> {
    if (this.#writing.size >= MAX_WRITES || !this.mayFill) return false
    const { index, at } = this.#placeOf(block)
    try {
      const extent = await this.#extent(name, index, true)
      if (extent === null || !extent.isWritable) return false
      const release = extent.handle.acquire()
      try {
        await writeExactly(extent.fd, bytes, at * BLOCK_BYTES)
        const entry = Buffer.alloc(ENTRY_BYTES)
        entry.writeUInt32LE(crc32(bytes), 0)
        entry.writeUInt32LE(MARK, 4)
        await writeExactly(extent.fd, entry, this.extentBytes + at * ENTRY_BYTES)
        extent.present[at] = 1
      } finally {
        release()
      }
      if (this.counts.failing === 1) this.#options.onWorking()
      this.counts.failing = 0
      this.counts.keptBlocks++
      this.filled(bytes.length)
      return true
    } catch (error) {
      this.failed(error)
      return false
    }
  }

  #placeOf(block: number): { index: number; at: number } {
    const blocks = this.extentBytes / BLOCK_BYTES
    return { index: Math.floor(block / blocks), at: block % blocks }
  }

  /** null: it is not there, or cannot be made. */
  async #extent(name: string, index: number, mayMake: boolean): Promise<Extent | null> {
    const key = keyOf(name, index)
    const known = this.opened(name, index)
    if (known !== undefined || this.capacityBytes === 0) return known ?? null
    const opening = this.#opening.get(key)
    if (opening !== undefined) {
      const extent = await opening
      if (extent !== null || !mayMake) return extent
    }
    const own = this.#openExtent(key, index, mayMake).finally(() => {
      if (this.#opening.get(key) === own) this.#opening.delete(key)
    })
    this.#opening.set(key, own)
    return own
  }

  async #openExtent(key: string, index: number, mayMake: boolean): Promise<Extent | null> {
    const file = path.join(this.directory, key)
    try {
      if (mayMake) await fs.promises.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      const fd = await openFile(file, fs.constants.O_RDWR | (mayMake ? fs.constants.O_CREAT : 0), 0o600)
      return this.#opened(key, index, fd, true)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Also where another process has just removed the folder, being empty: the next block makes it anew.
      if (code === 'ENOENT') return null
      this.failed(error)
      if (code !== 'EROFS' || mayMake) return null
      return openFile(file, fs.constants.O_RDONLY).then(
        (fd) => this.#opened(key, index, fd, false),
        () => null,
      )
    }
  }

  #opened(key: string, index: number, fd: number, isWritable: boolean): Extent {
    const meanwhile = this.#open.get(key)
    if (meanwhile !== undefined) {
      fs.close(fd, () => {})
      return meanwhile
    }
    const handle = new SharedHandle(() => fs.close(fd, () => {}))
    const present = new Uint8Array(this.extentBytes / BLOCK_BYTES)
    const extent: Extent = { index, fd, present, handle, isWritable, usedAtMs: 0 }
    this.#noteUse(extent)
    this.#open.set(key, extent)
    return extent
  }

  #noteUse(extent: Extent): void {
    const now = performance.now()
    if (extent.usedAtMs > 0 && now - extent.usedAtMs < NOTE_USE_MS) return
    extent.usedAtMs = now
    // biome-ignore lint/plugin: calendar, of files
    const seconds = Date.now() / 1000
    const release = extent.handle.acquire()
    futimes(extent.fd, seconds, seconds)
      .catch(() => {})
      .finally(release)
  }

  async #dropEvicted(): Promise<void> {
    for (const [key, extent] of [...this.#open.entries()]) {
      if (this.#open.peek(key) !== extent) continue
      const release = extent.handle.acquire()
      const isGone = await fstat(extent.fd)
        .then(({ nlink }) => nlink === 0)
        .catch(() => true)
      release()
      if (isGone && this.#open.peek(key) === extent) this.#open.delete(key)
    }
  }

  #made({ keptBytes, evicted }: Room): void {
    this.counts.keptBytes = keptBytes
    this.counts.evictions += evicted
    if (evicted > 0) void this.#dropEvicted()
  }

  /** The disk refused something: for a while nothing is put there. */
  failed(error: unknown): void {
    this.#pausedUntilMs = performance.now() + PAUSE_MS
    if (this.counts.failing === 1) return
    this.counts.failing = 1
    this.#options.onTrouble(error)
  }
}

function keyOf(name: string, number: number): string {
  return `${name}/${number}`
}

async function writeExactly(fd: number, bytes: Buffer, at: number): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const { bytesWritten } = await write(fd, bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}
