import fs from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import type { Entry } from 'yauzl'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly } from '../read-exactly.js'

/** Maximum number of entries of a zip; a package of 100,000 bundles holds 1.6 billion tiles. */
const MAX_ENTRIES = 100_000

/** Size in bytes of an entry's local header before its name (APPNOTE 4.3.7), and its signature. */
export const LOCAL_HEAD_BYTES = 30
const LOCAL_HEAD = 0x04034b50

/** An entry from the central directory of a zip. */
export interface ZipEntry {
  /** offset of the local header, which precedes the data */
  readonly headOffset: number
  /** stored size */
  readonly length: number
  /** uncompressed size */
  readonly size: number
  /** 0: stored; 8: deflated */
  readonly method: number
}

/** Reads the central directory of a zip. Rejects with `BrokenArchiveError` and the disk's errors. @param fd stays open */
export async function readZipDirectory(fd: number): Promise<Map<string, ZipEntry>> {
  const { fromFdPromise } = await import('yauzl')
  const entries = new Map<string, ZipEntry>()
  try {
    const zip = await fromFdPromise(fd, { autoClose: false, strictFileNames: true })
    if (zip.entryCount > MAX_ENTRIES) throw new BrokenArchiveError(`the zip has more than ${MAX_ENTRIES} entries`)
    for await (const entry of zip.eachEntry()) {
      // Programs disagree on which one counts.
      if (entries.has(entry.fileName)) throw new BrokenArchiveError(`the zip has two entries ${shown(entry.fileName)}`)
      entries.set(entry.fileName, toEntry(entry))
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof BrokenArchiveError) throw error
    // yauzl reports faults of a zip as plain errors; Node refuses impossible positions.
    if (code === undefined || code === 'ERR_OUT_OF_RANGE' || code === 'ERR_INVALID_ARG_VALUE')
      throw new BrokenArchiveError(`it is not a readable zip: ${message.slice(0, 200)}`)
    throw error
  }
  return entries
}

function toEntry(entry: Entry): ZipEntry {
  if (entry.isEncrypted()) throw new BrokenArchiveError(`its entry ${shown(entry.fileName)} is encrypted`)
  return {
    headOffset: entry.relativeOffsetOfLocalHeader,
    length: entry.compressedSize,
    size: entry.uncompressedSize,
    method: entry.compressionMethod,
  }
}

/** Returns the offset of an entry's data from its local header. Throws `BrokenArchiveError`. */
export function dataOffset({ headOffset }: ZipEntry, head: Uint8Array): number {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (bytes.readUInt32LE(0) !== LOCAL_HEAD)
    throw new BrokenArchiveError('the zip has no entry where its directory says')
  return headOffset + LOCAL_HEAD_BYTES + bytes.readUInt16LE(26) + bytes.readUInt16LE(28)
}

/** Returns a small uncompressed entry. Rejects with `BrokenArchiveError`. @param limit maximum size in bytes */
export async function readZipEntry(fd: number, entry: ZipEntry, limit: number): Promise<Buffer> {
  if (entry.length > limit || entry.size > limit)
    throw new BrokenArchiveError('an entry of the zip is larger than allowed')
  const offset = dataOffset(entry, await readExactly(fd, entry.headOffset, LOCAL_HEAD_BYTES))
  const stored = await readExactly(fd, offset, entry.length)
  if (entry.method === 0) return stored
  if (entry.method !== 8)
    throw new BrokenArchiveError(`the zip is packed by the method ${entry.method}, which is not read`)
  try {
    return inflateRawSync(stored, { maxOutputLength: limit })
  } catch {
    throw new BrokenArchiveError('an entry of the zip cannot be unpacked')
  }
}

/** Formats a name of the zip for a message. */
export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}

export const closeLater = (fd: number) => fs.close(fd, () => {})
