import fs from 'node:fs/promises'
import path from 'node:path'

/** Bytes per unit of st_blocks (POSIX leaves it open; Linux, macOS and the BSDs agree). */
const STAT_BLOCK_BYTES = 512
/** Maximum depth of directories with files of the cache. */
const MAX_DEPTH = 4

export interface Room {
  /** bytes of the files on the disk */
  readonly keptBytes: number
  readonly evicted: number
}

interface Found {
  readonly file: string
  readonly bytes: number
  /** ctime, because the modification time of some files is that of the object */
  readonly usedMs: number
}

/**
 * If the files of a directory take more than `tooMany` bytes of the disk, unlinks the longest unused ones until `enough` bytes are left. Open files
 * stay readable. Several processes may do so at once. Rejects with the disk's errors; an absent directory takes no space.
 */
export async function makeRoom(directory: string, enough: number, tooMany: number): Promise<Room> {
  const files: Found[] = []
  const folders: string[] = []
  for await (const found of filesBelow(directory, MAX_DEPTH, folders)) files.push(found)
  let keptBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (keptBytes <= tooMany) return { keptBytes, evicted: 0 }
  files.sort((a, b) => a.usedMs - b.usedMs)
  let evicted = 0
  for (const { file, bytes } of files) {
    if (keptBytes <= enough) break
    await fs.unlink(file).catch(ignoreMissing)
    keptBytes -= bytes
    evicted++
  }
  // Only empty ones can be removed; the errors of the others are ignored.
  for (const folder of folders.reverse()) await fs.rmdir(folder).catch(() => {})
  return { keptBytes, evicted }
}

async function* filesBelow(directory: string, depth: number, folders: string[]): AsyncGenerator<Found> {
  const entries = await fs.readdir(directory, { withFileTypes: true }).catch(ignoreMissing)
  for (const entry of entries ?? []) {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) {
      if (depth > 0) yield* filesBelow(file, depth - 1, folders)
      folders.push(file)
      continue
    }
    const stat = entry.isFile() ? await fs.stat(file).catch(ignoreMissing) : undefined
    if (stat !== undefined) yield { file, bytes: stat.blocks * STAT_BLOCK_BYTES, usedMs: stat.ctimeMs }
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
