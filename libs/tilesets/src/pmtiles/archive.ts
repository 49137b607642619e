import fs from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type NotOpened, openBelow } from '@gateway/files/open-below.js'
import { Compression } from 'pmtiles'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly } from '../read-exactly.js'
import { type Directory, decodeDirectory } from './directory.js'
import { type ArchiveHeader, readHeader } from './header.js'
import { HEADER_BYTES, MAX_DIRECTORY_BYTES, MAX_METADATA_BYTES } from './layout.js'

/** An opened PMTiles 3 archive: header and root directory in memory, leaf directories read when needed. */
export interface PmtilesArchive {
  readonly fd: number
  /** names the file's content, see `fileIdentity` */
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
    const header = readHeader(await readExactly(fd, 0, Math.min(HEADER_BYTES, size)), size)
    const rootBytes = await readExactly(fd, header.root.offset, header.root.length)
    const archive = { fd, identity, modifiedMs: mtimeMs, header, root: unpackDirectory(header, rootBytes) }
    return { ok: true, archive }
  } catch (error) {
    fs.close(fd, () => {})
    throw error
  }
}

/** The JSON metadata; an empty record where it is no JSON. Rejects with `BrokenArchiveError` where it cannot be unpacked. */
export async function readJson({ fd, header }: PmtilesArchive): Promise<unknown> {
  const { offset, length } = header.metadata
  return length === 0 ? {} : unpackJson(header, await readExactly(fd, offset, length))
}

/** `readJson` of the metadata's bytes. */
export function unpackJson(header: ArchiveHeader, bytes: Uint8Array): unknown {
  const text = unpack(bytes, header.internalCompression, MAX_METADATA_BYTES)
  try {
    return JSON.parse(Buffer.from(text).toString('utf8'))
  } catch {
    return {}
  }
}

export function unpackDirectory(header: ArchiveHeader, bytes: Uint8Array): Directory {
  return decodeDirectory(unpack(bytes, header.internalCompression, MAX_DIRECTORY_BYTES))
}

function unpack(data: Uint8Array, compression: Compression, maxOutputLength: number): Uint8Array {
  try {
    if (compression === Compression.Gzip) return gunzipSync(data, { maxOutputLength })
    return compression === Compression.Brotli ? brotliDecompressSync(data, { maxOutputLength }) : data
  } catch {
    throw new BrokenArchiveError('a directory or the metadata cannot be unpacked')
  }
}
