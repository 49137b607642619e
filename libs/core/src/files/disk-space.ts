import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds for one answer: a mount whose server is gone gives none. */
const ANSWER_WITHIN_MS = 1_000

export interface DiskSpace {
  /** bytes that this user may still write */
  readonly free: number
  /** bytes of the whole file system */
  readonly total: number
}

/** Returns the space of the file system of a directory, or of its nearest existing parent; null if it does not answer. */
export async function diskSpace(directory: string): Promise<DiskSpace | null> {
  return Promise.race([look(directory), sleep(ANSWER_WITHIN_MS, null, { ref: false })])
}

async function look(directory: string): Promise<DiskSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch (error) {
    const above = dirname(directory)
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && above !== directory ? look(above) : null
  }
}

/** True if a call failed because the disk, or this user's quota, is full. */
export function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return code === 'ENOSPC' || code === 'EDQUOT'
}
