import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants, opendir, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface FolderWanted {
  readonly path: string
  /** true if files are created in it; such a folder may not exist yet */
  readonly isWritten: boolean
}

export interface FolderFacts {
  /** system error code; null: none */
  readonly error: string | null
  readonly freeBytes: number
  readonly bytes: number
  readonly freeInodes: number
  /** 0: this file system does not count them */
  readonly inodes: number
}

const { path, isWritten } = JSON.parse(process.argv[2] ?? '{}') as FolderWanted
process.send?.(await look())

async function look(): Promise<FolderFacts> {
  const nothing = { freeBytes: 0, bytes: 0, freeInodes: 0, inodes: 0 }
  try {
    if (isWritten) await tryWriting(path)
    else await tryReading(path)
    const { bavail, blocks, bsize, ffree, files } = await statfs(isWritten ? nearest(path) : path)
    return { error: null, freeBytes: bavail * bsize, bytes: blocks * bsize, freeInodes: ffree, inodes: files }
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? (error as Error).message, ...nothing }
  }
}

async function tryReading(folder: string): Promise<void> {
  const entries = await opendir(folder)
  await entries.read()
  await entries.close()
}

/** A start creates missing folders, so then the parent folder is checked. */
async function tryWriting(folder: string): Promise<void> {
  const above = nearest(folder)
  // Throws if it is not a directory.
  await (await opendir(above)).close()
  if (above !== folder) return access(above, constants.W_OK | constants.X_OK)
  // Named like temporary files, so that no scan reads it as data.
  const file = join(folder, `.${randomBytes(6).toString('hex')}.tmp`)
  await writeFile(file, 'doctor', { flag: 'wx', flush: true })
  await rm(file)
}

function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))
}
