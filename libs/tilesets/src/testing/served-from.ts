import fs from 'node:fs'
import type { Storage } from '@gateway/contracts/basemap.js'
import type { CachedFile, CachedReader, SourceSpec } from '../source.js'
import { SMALL_BYTES } from '../source.js'

/** Returns a version as in the catalog, for tests. */
export function servedFrom(root: string, path: string, storage: Storage, more: Partial<SourceSpec> = {}): SourceSpec {
  return { id: 1, storage, format: 'png', path, root, extension: 'png', isRemote: false, ...more }
}

/** A reader that has everything in memory. */
export const ALL_CACHED: CachedReader = {
  open(file: string): CachedFile | 'absent' {
    const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return 'absent'
    const isFile = stat.isFile()
    const isSmall = stat.size <= BigInt(SMALL_BYTES)
    return {
      realPath: fs.realpathSync(file),
      isFile,
      fd: isFile && !isSmall ? fs.openSync(file, 'r') : null,
      content: isFile && isSmall ? fs.readFileSync(file) : null,
      size: stat.size,
      ino: stat.ino,
      mtimeNs: stat.mtimeNs,
    }
  },
  look(file) {
    const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? 'absent' : { realPath: fs.realpathSync(file), isFile: stat.isFile(), size: stat.size }
  },
  read(fd: number, offset: number, length: number): Uint8Array | null {
    const bytes = Buffer.alloc(length)
    return fs.readSync(fd, bytes, 0, length, offset) === length ? bytes : null
  },
}

/** A reader that has nothing in memory. */
export const NOTHING_CACHED: CachedReader = { open: () => 'not_now', look: () => 'not_now', read: () => null }
