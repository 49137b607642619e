import fs from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { type OpenedFile, openBelow, openBelowCached } from '@gateway/files/open-below.js'
import type { CachedFiles } from '@gateway/sendfile/cached-file.js'
import { encodingOf } from '@gateway/tiles/formats.js'
import type { TileEncoding, TileLocation } from '@gateway/tiles/tile-set.js'
import { fileSystemAnswers } from '../files/local-file-system.js'
import type { OpenedSet } from './opened-sets.js'

/** From this size on a tile is sent from its descriptor; below, reading it into memory at once is cheaper (measured). */
export const SMALL_BYTES = 64 * 1024
/** Bytes by which a tile tells whether it is gzip. */
const SIGNATURE_BYTES = 2

/** A part of an open file. `release` must be called once it is not read any more. */
export interface FilePart {
  readonly fd: number
  readonly offset: number
  readonly length: number
  /** the scan source of a file that is on a file system of another machine; see `SendOptions` */
  readonly remote?: string | undefined
  readonly release: () => void
}

/** The file that a tile's bytes are all of. */
export interface TileFile {
  /** the scan source's directory */
  readonly root: string
  /** absolute */
  readonly path: string
  /** see `fileIdentity` */
  readonly identity: string
}

/** A tile that exists: small ones with their bytes, large ones with where they are. */
export interface LoadedTile {
  readonly body: Uint8Array | FilePart
  readonly encoding: TileEncoding
  /** see `TileLocation`; part of the entity tag */
  readonly identity: string
  readonly modifiedMs: number
  /** null: a part of an archive, or large: its open file is kept instead of its bytes */
  readonly file: TileFile | null
}

export interface TilePlace {
  readonly z: number
  readonly x: number
  readonly y: number
}

type Range = Extract<TileLocation, { kind: 'range' }>
type Bytes = Extract<TileLocation, { kind: 'bytes' }>

/**
 * Loads a tile as far as the kernel has it in memory, without waiting for a disk; only SQLite, which reads by itself, may wait. null: no
 * such tile. `not_now`: `loadTileLater` must look. Throws what says nothing about the tile.
 */
export function loadTileNow(
  set: OpenedSet,
  cached: CachedFiles,
  format: TileFormat,
  { z, x, y }: TilePlace,
): LoadedTile | null | 'not_now' {
  const location = set.tileSet.locate(z, x, y, (fd, offset, length) => cached.read(fd, offset, length))
  if (location === null || location === 'not_now') return location
  switch (location.kind) {
    case 'file':
      return fileNow(cached, location.root, location.path, format)
    case 'range': {
      const { fd, offset, length } = location
      if (length > SMALL_BYTES) return largeRange(set, location)
      const body = cached.read(fd, offset, length)
      return body === null ? 'not_now' : { ...aboutRange(location), body }
    }
    case 'bytes':
      return loadedBytes(location)
  }
}

/**
 * Loads a tile in threads of the pool. null: no such tile. Rejects with what says nothing about the tile (EIO, EMFILE, EACCES). The caller
 * holds the set until then.
 */
export async function loadTileLater(
  set: OpenedSet,
  format: TileFormat,
  { z, x, y }: TilePlace,
): Promise<LoadedTile | null> {
  // SQLite reads by itself, in the event loop: not before its file system has shown that it answers. One that falls silent right after
  // stalls the process all the same.
  if (set.tileSet.storage === 'mbtiles' && !set.isLocal) await fileSystemAnswers(set.path)
  const location = await set.tileSet.locateLater(z, x, y)
  if (location === null) return null
  switch (location.kind) {
    case 'file':
      return fileLater(location.root, location.path, format, set.remote)
    case 'range': {
      const { fd, offset, length } = location
      if (length > SMALL_BYTES) return largeRange(set, location)
      return { ...aboutRange(location), body: await readAll(fd, offset, length) }
    }
    case 'bytes':
      return loadedBytes(location)
  }
}

function loadedBytes({ data, encoding, identity, modifiedMs }: Bytes): LoadedTile {
  return { body: data, encoding, identity, modifiedMs, file: null }
}

function aboutRange({ encoding, identity, modifiedMs }: Range) {
  return { encoding, identity, modifiedMs, file: null }
}

function largeRange(set: OpenedSet, location: Range): LoadedTile {
  const { fd, offset, length } = location
  return { ...aboutRange(location), body: { fd, offset, length, remote: set.remote, release: set.hold() } }
}

function fileNow(cached: CachedFiles, root: string, path: string, format: TileFormat): LoadedTile | null | 'not_now' {
  const opened = openBelowCached((file) => cached.open(file), root, path)
  if (opened === null) return 'not_now'
  if (!opened.ok) return null
  if ('content' in opened) {
    const { content, identity, mtimeMs } = opened
    const file = { root, path: resolve(root, path), identity }
    return { body: content, encoding: encodingOfFile(content, format), identity, modifiedMs: mtimeMs, file }
  }
  const signature = format === 'pbf' ? cached.read(opened.fd, 0, SIGNATURE_BYTES) : NO_SIGNATURE
  if (signature !== null) return largeFile(opened, encodingOfFile(signature, format))
  fs.closeSync(opened.fd)
  return 'not_now'
}

async function fileLater(
  root: string,
  path: string,
  format: TileFormat,
  remote: string | undefined,
): Promise<LoadedTile | null> {
  const opened = await openBelow(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error('the tile exists, but may not be read')
    return null
  }
  const { fd, size, identity, mtimeMs } = opened
  let kept = false
  try {
    if (size <= SMALL_BYTES) {
      const body = await readAll(fd, 0, size)
      const file = { root, path: resolve(root, path), identity }
      return { body, encoding: encodingOfFile(body, format), identity, modifiedMs: mtimeMs, file }
    }
    const signature = format === 'pbf' ? await readAll(fd, 0, SIGNATURE_BYTES) : NO_SIGNATURE
    kept = true
    return largeFile(opened, encodingOfFile(signature, format), remote)
  } finally {
    if (!kept) fs.close(fd, () => {})
  }
}

const NO_SIGNATURE = new Uint8Array(0)

/** Whether a file is gzip is looked at only where that is allowed. */
function encodingOfFile(start: Uint8Array, format: TileFormat): TileEncoding {
  return format === 'pbf' ? encodingOf(start) : 'identity'
}

function largeFile(
  { fd, size, identity, mtimeMs }: OpenedFile,
  encoding: TileEncoding,
  remote?: string | undefined,
): LoadedTile {
  const body = { fd, offset: 0, length: size, remote, release: () => fs.close(fd, () => {}) }
  return { body, encoding, identity, modifiedMs: mtimeMs, file: null }
}

const read = promisify(fs.read)

/** Rejects where the file ends early: it was cut since it was looked at. */
export async function readAll(fd: number, offset: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await read(fd, buffer, done, length - done, offset + done)
    if (bytesRead === 0) throw new Error('the file ended before its end')
    done += bytesRead
  }
  return buffer
}
