import fs from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type NotOpened, type OpenedFile, openBelow, openBelowSync } from '@gateway/files/open-below.js'
import { Compression, zxyToTileId } from 'pmtiles'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly, readExactlyLater } from '../read-exactly.js'
import type { ReadNow } from '../tile-set.js'
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
  /** Where a tile's bytes are in the file; null: the archive has no such tile; `not_now`: `read` could not read a directory. */
  find(z: number, x: number, y: number, read: ReadNow): Section | null | 'not_now'
  /** `find` that reads the directories without holding the event loop. */
  findLater(z: number, x: number, y: number): Promise<Section | null>
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
    const { fd, size } = opened
    const header = readHeader(readExactly(fd, 0, Math.min(HEADER_BYTES, size)), size)
    const rootBytes = readExactly(fd, header.root.offset, header.root.length)
    return { ok: true, archive: archiveOf(opened, header, decode(header, rootBytes)) }
  } catch (error) {
    fs.closeSync(opened.fd)
    throw error
  }
}

/** `openArchive` without holding the event loop. */
export async function openArchiveLater(root: string, file: string): Promise<ArchiveOpening> {
  const opened = await openBelow(root, file)
  if (!opened.ok) return opened
  try {
    const { fd, size } = opened
    const header = readHeader(await readExactlyLater(fd, 0, Math.min(HEADER_BYTES, size)), size)
    const rootBytes = await readExactlyLater(fd, header.root.offset, header.root.length)
    return { ok: true, archive: archiveOf(opened, header, decode(header, rootBytes)) }
  } catch (error) {
    fs.close(opened.fd, () => {})
    throw error
  }
}

function archiveOf({ fd, identity, mtimeMs }: OpenedFile, header: ArchiveHeader, root: Directory): PmtilesArchive {
  const directories: Directories = { fd, header, root, leaves: new LeafCache() }
  const isOutside = (z: number) => z < header.minZoom || z > header.maxZoom
  return {
    fd,
    identity,
    modifiedMs: mtimeMs,
    header,
    find: (z, x, y, read) => (isOutside(z) ? null : findTile(directories, zxyToTileId(z, x, y), read)),
    findLater: async (z, x, y) => (isOutside(z) ? null : findTileLater(directories, zxyToTileId(z, x, y))),
    first: () => findTile(directories, root.tileIds[0]!, readExactly) as Section | null,
    readMetadata: () => readJson(fd, header),
  }
}

interface Directories {
  readonly fd: number
  readonly header: ArchiveHeader
  readonly root: Directory
  readonly leaves: LeafCache
}

/** `not_now`: a directory on the way is neither at hand nor could `read` read it. */
function findTile(directories: Directories, tileId: number, read: ReadNow): Section | null | 'not_now' {
  const { header } = directories
  let directory = directories.root
  for (let depth = 0; depth <= MAX_LEAF_DEPTH; depth++) {
    const entry = findEntry(directory, tileId)
    if (entry < 0) return null
    const offset = directory.offsets[entry]!
    const length = directory.lengths[entry]!
    if (directory.runLengths[entry]! > 0) return within(header.tiles, offset, length)
    const leaf = leafAt(directories, within(header.leaves, offset, length), read)
    if (leaf === null) return 'not_now'
    directory = leaf
  }
  throw new BrokenArchiveError(`directories are nested more than ${MAX_LEAF_DEPTH} deep`)
}

/** Looks as far as directories are at hand, reads the one that is missing, and looks again. */
async function findTileLater(directories: Directories, tileId: number): Promise<Section | null> {
  const read = new Map<number, Buffer>()
  for (;;) {
    let missing: Section | undefined
    const found = findTile(directories, tileId, (_, offset, length) => {
      missing = { offset, length }
      return read.get(offset) ?? null
    })
    if (found !== 'not_now') return found
    const { offset, length } = missing as unknown as Section
    read.set(offset, await readExactlyLater(directories.fd, offset, length))
  }
}

function leafAt({ fd, header, leaves }: Directories, section: Section, read: ReadNow): Directory | null {
  const known = leaves.get(section.offset)
  if (known !== undefined) return known
  if (section.length > MAX_DIRECTORY_BYTES) throw new BrokenArchiveError('a directory is larger than allowed')
  const bytes = read(fd, section.offset, section.length)
  if (bytes === null) return null
  const leaf = decode(header, bytes)
  leaves.set(section.offset, leaf)
  return leaf
}

function within(section: Section, offset: number, length: number): Section {
  if (offset + length > section.length)
    throw new BrokenArchiveError('a directory points beyond the section it points into')
  return { offset: section.offset + offset, length }
}

function decode(header: ArchiveHeader, bytes: Uint8Array): Directory {
  return decodeDirectory(unpack(bytes, header.internalCompression, MAX_DIRECTORY_BYTES))
}

function readJson(fd: number, header: ArchiveHeader): unknown {
  const { offset, length } = header.metadata
  if (length === 0) return {}
  const text = unpack(readExactly(fd, offset, length), header.internalCompression, MAX_METADATA_BYTES)
  try {
    return JSON.parse(Buffer.from(text).toString('utf8'))
  } catch {
    return {}
  }
}

function unpack(data: Uint8Array, compression: Compression, maxOutputLength: number): Uint8Array {
  try {
    if (compression === Compression.Gzip) return gunzipSync(data, { maxOutputLength })
    return compression === Compression.Brotli ? brotliDecompressSync(data, { maxOutputLength }) : data
  } catch {
    throw new BrokenArchiveError('a directory or the metadata cannot be unpacked')
  }
}
