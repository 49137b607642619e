import fs from 'node:fs'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { openBelowSync } from '@gateway/files/open-below.js'
import { encodingOf } from '@gateway/tiles/formats.js'
import type { TileEncoding, TileLocation } from '@gateway/tiles/tile-set.js'
import type { OpenedSet } from './opened-sets.js'

/** From this size on a tile is sent from its descriptor; below, reading it into memory at once is cheaper (measured). */
export const SMALL_BYTES = 64 * 1024

/** A part of an open file. `release` must be called once it is not read any more. */
export interface FilePart {
  readonly fd: number
  readonly offset: number
  readonly length: number
  readonly release: () => void
}

/** A tile that exists: small ones with their bytes, large ones with where they are. */
export interface LoadedTile {
  readonly body: Uint8Array | FilePart
  readonly encoding: TileEncoding
  /** see `TileLocation`; part of the entity tag */
  readonly identity: string
  readonly modifiedMs: number
}

/** null: no such tile. Synchronous, and as short as a few system calls. Throws what says nothing about the tile (EIO, EMFILE, EACCES). */
export function loadTile(set: OpenedSet, format: TileFormat, z: number, x: number, y: number): LoadedTile | null {
  const location = set.tileSet.locate(z, x, y)
  if (location === null) return null
  switch (location.kind) {
    case 'file':
      return loadFile(location.root, location.path, format)
    case 'range':
      return loadRange(set, location)
    case 'bytes':
      return {
        body: location.data,
        encoding: location.encoding,
        identity: location.identity,
        modifiedMs: location.modifiedMs,
      }
  }
}

function loadRange(set: OpenedSet, location: Extract<TileLocation, { kind: 'range' }>): LoadedTile {
  const { fd, offset, length, encoding, identity, modifiedMs } = location
  const body = length <= SMALL_BYTES ? readAll(fd, offset, length) : { fd, offset, length, release: set.hold() }
  return { body, encoding, identity, modifiedMs }
}

function loadFile(root: string, path: string, format: TileFormat): LoadedTile | null {
  const opened = openBelowSync(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error('the tile exists, but may not be read')
    return null
  }
  const { fd, size, identity, mtimeMs } = opened
  let kept = false
  try {
    const small = size <= SMALL_BYTES
    const content = small ? readAll(fd, 0, size) : null
    const encoding = format === 'pbf' ? encodingOf(content ?? readAll(fd, 0, 2)) : 'identity'
    kept = !small
    const body = content ?? { fd, offset: 0, length: size, release: () => fs.close(fd, () => {}) }
    return { body, encoding, identity, modifiedMs: mtimeMs }
  } finally {
    if (!kept) fs.closeSync(fd)
  }
}

/** Throws where the file ends early: it was cut since it was looked at. */
export function readAll(fd: number, offset: number, length: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(length)
  let done = 0
  while (done < length) {
    const count = fs.readSync(fd, buffer, done, length - done, offset + done)
    if (count === 0) throw new Error('the file ended before its end')
    done += count
  }
  return buffer
}
