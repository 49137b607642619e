import fs from 'node:fs'
import { BrokenArchiveError } from '../broken-archive.js'
import { openArchive, type PmtilesArchive, unpackDirectory } from '../pmtiles/archive.js'
import type { Directory } from '../pmtiles/directory.js'
import { encodingOfTiles } from '../pmtiles/header.js'
import { MAX_DIRECTORY_BYTES, MAX_LEAF_DEPTH } from '../pmtiles/layout.js'
import type { ComparedSet } from './compare-sets.js'
import { isSame, type TileChange } from './join-tiles.js'

/** A run of consecutive tile numbers with the same change. */
export interface ChangedRun {
  readonly tileId: number
  readonly runLength: number
  readonly change: TileChange
}

/** Bytes of tile data that are read at once from an archive whose tiles lie in the order of their numbers. */
const WINDOW_BYTES = 1024 * 1024

/** Two open archives whose tiles can be compared in their stored form. */
export class ArchivePair {
  readonly #left: PmtilesArchive
  readonly #right: PmtilesArchive
  readonly #isPacked: boolean

  private constructor(left: PmtilesArchive, right: PmtilesArchive, isPacked: boolean) {
    this.#left = left
    this.#right = right
    this.#isPacked = isPacked
  }

  /** Returns null if a set is not a PMTiles archive of this machine, or the two store their tiles with different compressions. */
  static async open(left: ComparedSet, right: ComparedSet): Promise<ArchivePair | null> {
    if (left.storage !== 'pmtiles' || right.storage !== 'pmtiles' || left.format !== right.format) return null
    const one = await openArchive(left.root, left.path)
    if (!one.ok) return null
    const other = await openArchive(right.root, right.path)
    const isPacked = left.format === 'pbf'
    const encodings = [one, other].map((opening) => opening.ok && encodingOf(opening.archive))
    if (other.ok && encodings[0] === encodings[1] && (isPacked || encodings[0] === 'identity'))
      return new ArchivePair(one.archive, other.archive, isPacked)
    for (const opening of [one, other]) if (opening.ok) fs.closeSync(opening.archive.fd)
    return null
  }

  /**
   * Yields the runs that differ, with numbers in [first, end), in ascending order. Waits for the disk synchronously: a promise for each tile costs
   * ten times the comparison. Throws `BrokenArchiveError` and the disk's errors.
   */
  *changes(first: number, end: number): Generator<ChangedRun> {
    const [ones, others] = [new Cursor(this.#left, first, end), new Cursor(this.#right, first, end)]
    // Successive runs with the same content are compared once.
    const compared = { one: -1, other: -1, same: true }
    while (ones.tileId < Number.POSITIVE_INFINITY || others.tileId < Number.POSITIVE_INFINITY) {
      const tileId = Math.min(ones.tileId, others.tileId)
      if (ones.tileId !== others.tileId) {
        const [cursor, behind] = ones.tileId < others.tileId ? [ones, others] : [others, ones]
        const runLength = Math.min(cursor.runLength, behind.tileId - tileId)
        yield { tileId, runLength, change: cursor === ones ? 'removed' : 'added' }
        cursor.pass(runLength)
        continue
      }
      const runLength = Math.min(ones.runLength, others.runLength)
      if (compared.one !== ones.offset || compared.other !== others.offset) {
        compared.one = ones.offset
        compared.other = others.offset
        compared.same = isSame(ones.data(), others.data(), this.#isPacked)
      }
      if (!compared.same) yield { tileId, runLength, change: 'changed' }
      ones.pass(runLength)
      others.pass(runLength)
    }
  }

  close(): void {
    fs.closeSync(this.#left.fd)
    fs.closeSync(this.#right.fd)
  }
}

/** Throws `BrokenArchiveError` for another compression than gzip. */
function encodingOf({ header }: PmtilesArchive): string {
  return encodingOfTiles(header.tileCompression, header.tileType)
}

/** The current run of an archive. */
class Cursor {
  readonly #archive: PmtilesArchive
  readonly #end: number
  readonly #entries: Generator<void>
  readonly #window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  /** part of the file that the window holds */
  #from = 0
  #to = 0
  /** Infinity: no run is left */
  tileId = Number.POSITIVE_INFINITY
  runLength = 0
  offset = 0
  #length = 0

  constructor(archive: PmtilesArchive, first: number, end: number) {
    this.#archive = archive
    this.#end = end
    this.#entries = this.#entriesOf(archive.root, first, 0)
    this.#next()
  }

  /** Goes on by a number of tiles, of the current run at most. */
  pass(count: number): void {
    if (count < this.runLength) {
      this.tileId += count
      this.runLength -= count
    } else this.#next()
  }

  /** Returns the stored bytes of the current run, which are valid until the next call. */
  data(): Buffer {
    const { fd, header } = this.#archive
    if (this.offset + this.#length > header.tiles.length)
      throw new BrokenArchiveError('a tile lies beyond the tile data')
    const [from, length] = [header.tiles.offset + this.offset, this.#length]
    if (from < this.#from || from + length > this.#to) {
      const isNear = from >= this.#to && from - this.#to < WINDOW_BYTES
      if (length > WINDOW_BYTES || !isNear) {
        if (from >= this.#to) [this.#from, this.#to] = [from + length, from + length]
        return readFully(fd, Buffer.allocUnsafe(length), from)
      }
      const rest = header.tiles.offset + header.tiles.length - from
      readFully(fd, this.#window.subarray(0, Math.min(WINDOW_BYTES, rest)), from)
      ;[this.#from, this.#to] = [from, from + Math.min(WINDOW_BYTES, rest)]
    }
    return this.#window.subarray(from - this.#from, from - this.#from + length)
  }

  #next(): void {
    if (this.#entries.next().done) this.tileId = Number.POSITIVE_INFINITY
  }

  /** Stops at each run within the numbers, in ascending order. Leaves without such runs are not read. */
  *#entriesOf({ tileIds, runLengths, offsets, lengths }: Directory, first: number, depth: number): Generator<void> {
    for (let i = 0; i < tileIds.length; i++) {
      const [tileId, runLength, offset, length] = [tileIds[i]!, runLengths[i]!, offsets[i]!, lengths[i]!]
      if (tileId >= this.#end) return
      if (runLength === 0) {
        if ((tileIds[i + 1] ?? Number.POSITIVE_INFINITY) > first)
          yield* this.#entriesOf(this.#leaf(offset, length, depth), first, depth + 1)
      } else if (tileId + runLength > first) {
        this.tileId = Math.max(tileId, first)
        this.runLength = Math.min(tileId + runLength, this.#end) - this.tileId
        this.offset = offset
        this.#length = length
        yield
      }
    }
  }

  #leaf(offset: number, length: number, depth: number): Directory {
    const { header, fd } = this.#archive
    if (depth === MAX_LEAF_DEPTH) throw new BrokenArchiveError(`directories are nested more than ${depth} deep`)
    if (offset + length > header.leaves.length || length > MAX_DIRECTORY_BYTES)
      throw new BrokenArchiveError('a directory is larger than allowed, or lies beyond its section')
    return unpackDirectory(header, readFully(fd, Buffer.allocUnsafe(length), header.leaves.offset + offset))
  }
}

function readFully(fd: number, buffer: Buffer, from: number): Buffer {
  for (let filled = 0; filled < buffer.length; ) {
    const bytesRead = fs.readSync(fd, buffer, filled, buffer.length - filled, from + filled)
    if (bytesRead === 0) throw new BrokenArchiveError('the archive ends before the end of its content')
    filled += bytesRead
  }
  return buffer
}
