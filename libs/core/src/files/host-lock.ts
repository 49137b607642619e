import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeFileAtomically } from './write-atomically.js'

/** Age in ms up to which a lock without content is one that its process is about to fill. */
const LOCK_FILLED_MS = 10_000

/** Locks that this process holds. A lock with its number that is not among them was left by an earlier process. */
const held = new Set<string>()

/**
 * Takes a lock that one process of this host has at a time, as a file. The file is a link to one of the process in the same folder, because ext4
 * creates files slowly after many have been removed, and a link takes no file. While another one has it, looks again at intervals. A lock whose process has
 * ended is free; two processes that find such a lock at the same moment may both take it. The folder must exist. Rejects with the errors of the disk.
 * @param isDone true if the work that the lock protects has been done meanwhile
 * @returns a function that releases the lock; null if the work is done
 */
export async function takeHostLock(
  lock: string,
  isDone: () => Promise<boolean>,
  lookAgainMs: number,
): Promise<(() => Promise<void>) | null> {
  for (;;) {
    const release = await tryHostLock(lock)
    if (release !== null) return release
    await sleep(lookAgainMs)
    if (await isDone()) return null
  }
}

/** Like `takeHostLock`. Returns null at once if this process or another one has the lock. */
export async function tryHostLock(lock: string): Promise<(() => Promise<void>) | null> {
  if (!(await take(lock))) return null
  return async () => {
    held.delete(lock)
    await remove(lock)
  }
}

async function take(lock: string): Promise<boolean> {
  if (held.has(lock)) return false
  try {
    await linkOrWrite(lock)
    held.add(lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (!held.has(lock) && !(await isHeld(lock))) await remove(lock)
  return false
}

/** Rejects with EEXIST if the lock exists, and with ENOENT if its folder does not. */
async function linkOrWrite(lock: string): Promise<void> {
  const own = path.join(path.dirname(lock), `.${process.pid}.holder`)
  const link = () => fs.link(own, lock)
  await link()
    .catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      await writeFileAtomically(own, String(process.pid))
      await link()
    })
    .catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') throw error
      // The file system has no links, or refuses this one.
      await fs.writeFile(lock, String(process.pid), { flag: 'wx' })
    })
}

/** Unlike `rm`, it does not look at the file first. */
function remove(lock: string): Promise<void> {
  return fs.unlink(lock).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

async function isHeld(lock: string): Promise<boolean> {
  try {
    const content = await fs.readFile(lock, 'utf8')
    // biome-ignore lint/plugin: calendar, against the time of a file
    if (content === '') return Math.abs(Date.now() - (await fs.stat(lock)).mtimeMs) < LOCK_FILLED_MS
    const holder = Number(content)
    return holder > 0 && holder !== process.pid && isAlive(holder)
  } catch {
    return false
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
