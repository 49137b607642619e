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

/** Unit of requests and of caching. At this size, map traffic needs one request for ten tiles. */
export const BLOCK_BYTES = 128 * 1024
/** Unit of eviction. Each open extent takes a descriptor. */
const EXTENT_BYTES = 16 * 1024 * 1024
/** Maximum number of open extents in a process: 8 GB if they are full. */
const MAX_OPEN = 512
/** Size of the entry for each block behind an extent's blocks: CRC-32 of its bytes, and this mark. Absent or truncated entries are zeros. */
const ENTRY_BYTES = 8
const MARK = 0x31_63_6c_62
/** Interval of recording uses. The longest unused extents are evicted first. */
const NOTE_USE_MS = 60_000
/** Interval of looking for extents that other processes have evicted, to release their space. */
const UPKEEP_MS = 10_000
/** Time without writes after the disk refused one. */
const PAUSE_MS = 30_000
/** Share of the capacity that stays after an eviction, and share that the processes of a host may fill until they look again. */
const KEPT_PART = 0.9
const FILL_PART = 0.05
/** Maximum number of blocks that wait to be written. If the disk is slower, further blocks are not written. */
const MAX_WRITES = 64
/** Maximum bytes of blocks in memory while the disk does not take them. */
const MEMORY_BYTES = 32 * 1024 * 1024

const write = promisify(fs.write)
const openFile = promisify(fs.open)
const fstat = promisify(fs.fstat) as (fd: number) => Promise<fs.Stats>
const futimes = promisify(fs.futimes)

export interface BlockCacheOptions {
  /** absolute; created if it does not exist */
  readonly directory: string
  /** total for all processes that share the directory; 0: nothing is kept on disk */
  readonly capacityBytes: number
  /** number of processes that share it */
  readonly processes: number
  /** called once when the disk fails to read or write, until it works again */
  readonly onTrouble: (error: unknown) => void
  readonly onWorking: () => void
  readonly extentBytes?: number
}

export interface Extent extends OpenExtent {
  readonly handle: SharedHandle
  readonly isWritable: boolean
  /** last recorded use, in the time of `performance.now()` */
  usedAtMs: number
}

/** Counts of a process since its start. */
export interface CacheCounts {
  /** blocks that this process did not know to be on disk, and tiles of folders: found there, or fetched */
  hits: number
  misses: number
  fetchedBytes: number
  /** tiles that were read from disk without waiting */
  servedTiles: number
  servedBytes: number
  /** blocks written to disk */
  keptBlocks: number
  evictions: number
  /** bytes in the directory at the last eviction */
  keptBytes: number
  /** 1 while the disk refuses */
  failing: 0 | 1
}

/**
 * Blocks of remote objects on this machine's disk, shared by processes and kept over restarts. An object's name identifies its content, so blocks
 * never change. A block counts as present only if its stored checksum matches its bytes, whatever a killed writer or the disk left.
 * Nothing rejects: blocks that the disk refuses are absent, and stay in memory for a while.
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
    // The first block triggers a look at the existing files.
    this.#filledBytes = options.capacityBytes
    if (options.capacityBytes > 0) this.#upkeep = setInterval(() => void this.#dropEvicted(), UPKEEP_MS).unref()
  }

  get directory(): string {
    return this.#options.directory
  }

  get capacityBytes(): number {
    return this.#options.capacityBytes
  }

  /** True if files may be added to the directory now. */
  get mayFill(): boolean {
    return this.capacityBytes > 0 && performance.now() >= this.#pausedUntilMs
  }

  /** Returns an open extent. @param name of the object: letters, digits and hyphens */
  opened(name: string, index: number): Extent | undefined {
    const extent = this.#open.get(keyOf(name, index))
    if (extent !== undefined) this.#noteUse(extent)
    return extent
  }

  /** Returns a block from memory or disk; null: it must be fetched. `length` is the object's length within the block. */
  async find(name: string, block: number, length: number): Promise<Buffer | null> {
    const kept = this.#memory.get(keyOf(name, block))
    if (kept !== undefined) {
      // A block on disk is available to other processes, and needs no waiting.
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
      // The file is shorter than an extent: its first block is being written, or never was.
      if (error instanceof BrokenArchiveError) return null
      this.#open.delete(keyOf(name, index))
      this.failed(error)
      return null
    } finally {
      release()
    }
  }

  /** Keeps a fetched block: on disk, or in memory while the disk takes none or is too slow. A later use moves it to the disk. */
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

  /** Closes descriptors as responses end. */
  close(): void {
    if (this.#upkeep !== null) clearInterval(this.#upkeep)
    this.#open.clear()
  }

  /** Counts bytes that were added to the directory, and evicts if needed. */
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
        // Bytes added meanwhile were not considered.
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

  /** null: it does not exist, or cannot be created */
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
      // Also if another process has just removed the empty folder: the next block creates it again.
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

  /** Called after a refusal of the disk: nothing is written for a while. */
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
