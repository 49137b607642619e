import fs from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type NotOpened, openBelow } from '@gateway/core/files/open-below.js'
import { parseOutsideJson } from '@gateway/core/files/outside-json.js'
import { Compression } from 'pmtiles'
import { BrokenArchiveError } from '../broken-archive.js'
import type { FileInExtents } from '../extents.js'
import { encodingOf, isZstandard } from '../formats.js'
import { readExactly } from '../read-exactly.js'
import { type Directory, decodeDirectory } from './directory.js'
import { type ArchiveHeader, readHeader, type Section } from './header.js'
import { HEADER_BYTES, MAX_DIRECTORY_BYTES, MAX_METADATA_BYTES, MAX_PMTILES_ZOOM } from './layout.js'

/** An opened PMTiles 3 archive. Header and root directory are in memory; leaf directories are read on demand. */
export interface PmtilesArchive {
  /** -1: the archive is remote, and its local parts are in `extents` */
  readonly fd: number
  readonly extents?: FileInExtents
  /** identifies the file's content, see `fileIdentity` */
  readonly identity: string
  readonly modifiedMs: number
  readonly header: ArchiveHeader
  readonly root: Directory
}

export type ArchiveOpening = { readonly ok: true; readonly archive: PmtilesArchive } | NotOpened

/** Opens and checks an archive below `root`. Rejects with `BrokenArchiveError` and the disk's errors. The caller closes `fd`. */
export async function openArchive(root: string, file: string): Promise<ArchiveOpening> {
  const opened = await openBelow(root, file)
  if (!opened.ok) return opened
  const { fd, size, identity, mtimeMs } = opened
  try {
    const read = ({ offset, length }: Section) => readExactly(fd, offset, length)
    return { ok: true, archive: { fd, identity, modifiedMs: mtimeMs, ...(await readStart(read, size)) } }
  } catch (error) {
    fs.close(fd, () => {})
    throw error
  }
}

/** Reads header and root directory of an archive of `size` bytes. Rejects with `BrokenArchiveError`, and with the errors of `read`. */
export async function readStart(
  read: (section: Section) => Promise<Uint8Array>,
  size: number,
): Promise<Pick<PmtilesArchive, 'header' | 'root'>> {
  const header = readHeader(await read({ offset: 0, length: Math.min(HEADER_BYTES, size) }), size)
  const root = unpackDirectory(header, await read(header.root))
  return { header: { ...header, ...zoomsOf(header, root) }, root }
}

/**
 * Widens the zooms of the header by those of the root directory, so that the tiles which are there are served. If it ends with a leaf, nothing is known of
 * the deepest one.
 */
function zoomsOf(header: Pick<ArchiveHeader, 'minZoom' | 'maxZoom'>, { tileIds, runLengths }: Directory) {
  const run = runLengths.at(-1)!
  const last = run === 0 ? MAX_PMTILES_ZOOM : zoomOf(tileIds.at(-1)! + run - 1)
  return { minZoom: Math.min(header.minZoom, zoomOf(tileIds[0]!)), maxZoom: Math.max(header.maxZoom, last) }
}

/** Returns the zoom of a tile's number, at most the deepest one whose numbers are exact. */
export function zoomOf(tileId: number): number {
  let z = 0
  for (let end = 1; tileId >= end && z < MAX_PMTILES_ZOOM; end += 4 ** z) z++
  return z
}

/** Reads the JSON metadata. null: it cannot be read, because it is no JSON or is compressed by an unknown method. */
export async function readJson({ fd, header }: PmtilesArchive): Promise<unknown> {
  const { offset, length } = header.metadata
  return length === 0 ? {} : unpackJson(header, await readExactly(fd, offset, length))
}

/** Parses the metadata's bytes like `readJson`. */
export function unpackJson(header: ArchiveHeader, bytes: Uint8Array): unknown {
  try {
    const text = unpack(bytes, header.internalCompression, MAX_METADATA_BYTES)
    return parseOutsideJson(Buffer.from(text).toString('utf8'))
  } catch {
    return null
  }
}

export function unpackDirectory(header: ArchiveHeader, bytes: Uint8Array): Directory {
  return decodeDirectory(unpack(bytes, header.internalCompression, MAX_DIRECTORY_BYTES))
}

/**
 * Unpacks by the bytes where they contradict the declared compression: gzip and Zstandard have signatures, and a stream checks itself. Plain data may begin
 * like a packed one.
 */
function unpack(data: Uint8Array, compression: Compression, maxOutputLength: number): Uint8Array {
  const isGzip = encodingOf(data) === 'gzip'
  try {
    if (isGzip) return gunzipSync(data, { maxOutputLength })
    if (compression === Compression.Brotli) return brotliDecompressSync(data, { maxOutputLength })
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    if (isTooLarge || (isGzip && compression === Compression.Gzip))
      throw new BrokenArchiveError('a directory or the metadata cannot be unpacked')
  }
  if (isZstandard(data)) throw new BrokenArchiveError('directories compressed with zstd are not supported')
  return data
}
