import fs from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type NotOpened, openBelowSync } from '@gateway/files/open-below.js'
import { Compression, zxyToTileId } from 'pmtiles'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly } from '../read-exactly.js'
import { type Directory, decodeDirectory, findEntry } from './directory.js'
import { type ArchiveHeader, readHeader, type Section } from './header.js'
import { HEADER_BYTES, MAX_DIRECTORY_BYTES, MAX_LEAF_DEPTH, MAX_METADATA_BYTES } from './layout.js'
import { LeafCache } from './leaf-cache.js'

/** An opened PMTiles 3 archive: header and root directory in memory, leaf directories read when needed. */
export interface PmtilesArchive {
  readonly fd: number
  /** names the file's content, see `fileIdentity` */
  readonly identity: string
  readonly modifiedMs: number
  readonly header: ArchiveHeader
  /** Where a tile's bytes are in the file; null: the archive has no such tile. */
  find(z: number, x: number, y: number): Section | null
  /** The tile with the lowest number, to look at. */
  first(): Section | null
  /** The JSON metadata; an empty record where it is no JSON object. Throws `BrokenArchiveError` where it cannot be unpacked. */
  readMetadata(): unknown
}

export type ArchiveOpening = { readonly ok: true; readonly archive: PmtilesArchive } | NotOpened

/** Opens and checks an archive below `root`. Throws `BrokenArchiveError` and the disk's errors. The caller closes `fd`. */
export function openArchive(root: string, file: string): ArchiveOpening {
  const opened = openBelowSync(root, file)
  if (!opened.ok) return opened
  try {
    const { fd, size, identity, mtimeMs } = opened
    const header = readHeader(readExactly(fd, 0, Math.min(HEADER_BYTES, size)), size)
    const rootDirectory = readDirectory(fd, header, header.root)
    const directories: Directories = { fd, header, root: rootDirectory, leaves: new LeafCache() }
    const archive: PmtilesArchive = {
      fd,
      identity,
      modifiedMs: mtimeMs,
      header,
      find: (z, x, y) =>
        z < header.minZoom || z > header.maxZoom ? null : findTile(directories, zxyToTileId(z, x, y)),
      first: () => findTile(directories, rootDirectory.tileIds[0]!),
      readMetadata: () => readJson(fd, header),
    }
    return { ok: true, archive }
  } catch (error) {
    fs.closeSync(opened.fd)
    throw error
  }
}

interface Directories {
  readonly fd: number
  readonly header: ArchiveHeader
  readonly root: Directory
  readonly leaves: LeafCache
}

function findTile(directories: Directories, tileId: number): Section | null {
  const { header } = directories
  let directory = directories.root
  for (let depth = 0; depth <= MAX_LEAF_DEPTH; depth++) {
    const entry = findEntry(directory, tileId)
    if (entry < 0) return null
    const offset = directory.offsets[entry]!
    const length = directory.lengths[entry]!
    if (directory.runLengths[entry]! > 0) return within(header.tiles, offset, length)
    directory = readLeaf(directories, within(header.leaves, offset, length))
  }
  throw new BrokenArchiveError(`directories are nested more than ${MAX_LEAF_DEPTH} deep`)
}

function readLeaf({ fd, header, leaves }: Directories, section: Section): Directory {
  const known = leaves.get(section.offset)
  if (known !== undefined) return known
  const leaf = readDirectory(fd, header, section)
  leaves.set(section.offset, leaf)
  return leaf
}

function within(section: Section, offset: number, length: number): Section {
  if (offset + length > section.length)
    throw new BrokenArchiveError('a directory points beyond the section it points into')
  return { offset: section.offset + offset, length }
}

function readDirectory(fd: number, header: ArchiveHeader, { offset, length }: Section): Directory {
  if (length > MAX_DIRECTORY_BYTES) throw new BrokenArchiveError('a directory is larger than allowed')
  return decodeDirectory(unpack(readExactly(fd, offset, length), header.internalCompression, MAX_DIRECTORY_BYTES))
}

function readJson(fd: number, header: ArchiveHeader): unknown {
  const { offset, length } = header.metadata
  if (length === 0) return {}
  const text = unpack(readExactly(fd, offset, length), header.internalCompression, MAX_METADATA_BYTES)
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    return {}
  }
}

function unpack(data: Buffer, compression: Compression, maxOutputLength: number): Buffer {
  try {
    if (compression === Compression.Gzip) return gunzipSync(data, { maxOutputLength })
    return compression === Compression.Brotli ? brotliDecompressSync(data, { maxOutputLength }) : data
  } catch {
    throw new BrokenArchiveError('a directory or the metadata cannot be unpacked')
  }
}
