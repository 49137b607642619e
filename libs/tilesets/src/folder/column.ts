import fs from 'node:fs'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { liesBelow } from '@gateway/core/files/real-root.js'
import { flipRow, parseIndex } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { fileExtensions } from '../formats.js'
import type { SourceSpec } from '../source.js'

/** A set of the storage `xyz` or `tms` on a disk of this machine. */
export type FolderSet = Pick<SourceSpec, 'storage' | 'root' | 'path' | 'extension' | 'formats'>

/** The files of one column of a zoom, which are read synchronously: a promise for each of millions of small files costs ten times the reading. */
export interface Column {
  /** real path */
  readonly folder: string
  /** XYZ, ascending; an empty file is among them, and is no tile */
  readonly rows: readonly number[]
  pathOf(row: number): string
}

/** Returns the possible paths of a tile's file, whose row is XYZ: several in a set of several formats. */
export function tileFiles(set: FolderSet, z: number, x: number, y: number): readonly string[] {
  const row = set.storage === 'tms' ? flipRow(z, y) : y
  return fileExtensions(set).map((extension) => `${set.path}/${z}/${x}/${row}.${extension}`)
}

/** Returns null if the column does not exist, or lies outside of the root. Throws the disk's errors. */
export function openColumn(set: FolderSet, z: number, x: number): Column | null {
  const stored = (row: number) => (set.storage === 'tms' ? flipRow(z, row) : row)
  try {
    const folder = fs.realpathSync.native(`${set.path}/${z}/${x}`)
    if (!liesBelow(set.root, folder)) return null
    /** by extension, the first of which counts */
    const extensions = fileExtensions(set)
    const found = new Map<number, string>()
    for (const name of fs.readdirSync(folder)) {
      const dot = name.indexOf('.')
      const extension = name.slice(dot + 1)
      const place = extensions.indexOf(extension)
      const row = place >= 0 ? parseIndex(name.slice(0, dot)) : -1
      const known = found.get(stored(row))
      if (row >= 0 && (known === undefined || place < extensions.indexOf(known))) found.set(stored(row), extension)
    }
    const rows = [...found.keys()].sort((one, other) => one - other)
    return {
      folder,
      rows,
      pathOf: (row) => `${folder}/${stored(row)}.${found.get(row) ?? extensions[0]}`,
    }
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** O_NONBLOCK: opening a FIFO must not block. O_NOFOLLOW: the place that a link leads to must be checked. */
const OPEN_FLAGS = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOFOLLOW

/** Opens a file of a column. Returns null if it is missing, or a link that leads out of the root. */
export function openTileFile(root: string, file: string): number | null {
  try {
    return fs.openSync(file, OPEN_FLAGS)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') {
      if (isAbsent(error)) return null
      throw error
    }
  }
  const opened = openBelowSync(root, file)
  if (opened.ok) return opened.fd
  if (opened.reason === 'unreadable') throw new Error('the tile exists, but may not be read')
  return null
}

/** Fills a buffer with the next bytes of an open file. Returns fewer bytes only at its end, and none of a directory. */
export function readSome(fd: number, buffer: Buffer, filled = 0): number {
  try {
    return fs.readSync(fd, buffer, filled, buffer.length - filled, null)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return 0
    throw error
  }
}

/** Bytes of one tile. SQLite's limit is the same (`openDatabase`). */
const MAX_TILE_BYTES = 32 * 1024 * 1024

const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** Returns the content of a file of a column; null if there is no tile. Throws `BrokenArchiveError` for more bytes than a tile may have. */
export function readTileFile(root: string, file: string): Buffer | null {
  const fd = openTileFile(root, file)
  if (fd === null) return null
  try {
    let [buffer, filled] = [shared, readSome(fd, shared)]
    while (filled === buffer.length) {
      if (filled > MAX_TILE_BYTES) throw new BrokenArchiveError(`a tile has more than ${MAX_TILE_BYTES} bytes`)
      buffer = Buffer.concat([buffer], buffer.length * 2)
      filled += readSome(fd, buffer, filled)
    }
    return filled === 0 ? null : Buffer.from(buffer.subarray(0, filled))
  } finally {
    fs.closeSync(fd)
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')
}
