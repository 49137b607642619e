import fs from 'node:fs'
import { BrokenArchiveError } from '../broken-archive.js'
import { type PmtilesArchive, unpackDirectory } from './archive.js'
import type { Directory } from './directory.js'
import { MAX_DIRECTORY_BYTES, MAX_LEAF_DEPTH } from './layout.js'

/** A run of tiles with consecutive numbers and one content. */
export interface StoredRun {
  readonly tileId: number
  readonly runLength: number
  /** bytes from the start of the tile data */
  readonly offset: number
  readonly length: number
}

/** Bytes of tile data that are read at once from an archive whose tiles lie in the order of their numbers. */
const WINDOW_BYTES = 1024 * 1024

/**
 * Yields the runs of an archive, cut to numbers in [first, end), in ascending order. Leaves without such runs are not read. Waits for the disk
 * synchronously: a promise for each tile costs ten times the walk. Throws `BrokenArchiveError` and the disk's errors.
 */
export function* storedRuns(
  archive: PmtilesArchive,
  first: number,
  end: number,
  { tileIds, runLengths, offsets, lengths }: Directory = archive.root,
  depth = 0,
): Generator<StoredRun> {
  for (let i = 0; i < tileIds.length; i++) {
    const [tileId, runLength, offset, length] = [tileIds[i]!, runLengths[i]!, offsets[i]!, lengths[i]!]
    if (tileId >= end) return
    if (runLength === 0) {
      if ((tileIds[i + 1] ?? Number.POSITIVE_INFINITY) > first)
        yield* storedRuns(archive, first, end, leafOf(archive, offset, length, depth), depth + 1)
    } else if (tileId + runLength > first) {
      const from = Math.max(tileId, first)
      yield {
        tileId: from,
        runLength: Math.min(tileId + runLength, end) - from,
        offset,
        length,
      }
    }
  }
}

function leafOf(archive: PmtilesArchive, offset: number, length: number, depth: number): Directory {
  const { header, fd } = archive
  if (depth === MAX_LEAF_DEPTH) throw new BrokenArchiveError(`directories are nested more than ${depth} deep`)
  if (offset + length > header.leaves.length || length > MAX_DIRECTORY_BYTES)
    throw new BrokenArchiveError('a directory is larger than allowed, or lies beyond its section')
  return unpackDirectory(header, readFully(fd, Buffer.allocUnsafe(length), header.leaves.offset + offset))
}

/** Reads the contents of runs, many at once as long as they follow each other in the file. */
export class RunReader {
  readonly #archive: PmtilesArchive
  readonly #window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  /** part of the file that the window holds */
  #from = 0
  #to = 0

  constructor(archive: PmtilesArchive) {
    this.#archive = archive
  }

  /** Returns the stored bytes of a run, which are valid until the next call. */
  read({ offset, length }: Pick<StoredRun, 'offset' | 'length'>): Buffer {
    const { fd, header } = this.#archive
    if (offset + length > header.tiles.length) throw new BrokenArchiveError('a tile lies beyond the tile data')
    const from = header.tiles.offset + offset
    if (from < this.#from || from + length > this.#to) {
      const isNear = from >= this.#to && from - this.#to < WINDOW_BYTES
      if (length > WINDOW_BYTES || !isNear) {
        if (from >= this.#to) [this.#from, this.#to] = [from + length, from + length]
        return readFully(fd, Buffer.allocUnsafe(length), from)
      }
      const filled = Math.min(WINDOW_BYTES, header.tiles.offset + header.tiles.length - from)
      readFully(fd, this.#window.subarray(0, filled), from)
      ;[this.#from, this.#to] = [from, from + filled]
    }
    return this.#window.subarray(from - this.#from, from - this.#from + length)
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
