import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeFileAtomically } from './write-atomically.js'

/** Age in ms up to which a lock without content is one that its process is about to fill. */
const LOCK_FILLED_MS = 10_000

/** Locks that this process holds. A lock with its number that is not among them was left by an earlier process. */
const held = new Set<string>()
/** Files to which locks are links, since this process has written them. One that an earlier process with its number has left may be empty after a power cut. */
const holders = new Map<string, Promise<void>>()

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
    await remove(lock).finally(() => held.delete(lock))
  }
}

async function take(lock: string): Promise<boolean> {
  if (held.has(lock)) return false
  // Others of this process must not take its number for that of an earlier process meanwhile.
  held.add(lock)
  let isTaken = false
  try {
    await linkOrWrite(lock)
    isTaken = true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!(await isHeld(lock))) await remove(lock)
  } finally {
    if (!isTaken) held.delete(lock)
  }
  return isTaken
}

/** Rejects with EEXIST if the lock exists, and with ENOENT if its folder does not. */
async function linkOrWrite(lock: string): Promise<void> {
  const own = path.join(path.dirname(lock), `.${process.pid}.holder`)
  try {
    const holder = holderAt(own)
    await holder
    await fs.link(own, lock).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      // The file was evicted, or the folder does not exist. It is written once: the kernel finds none while one is replaced.
      if (holders.get(own) === holder) holders.delete(own)
      await holderAt(own)
      await fs.link(own, lock)
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT') throw error
    // The file system has no links, or refuses this one.
    await writeLock(lock)
  }
}

function holderAt(own: string): Promise<void> {
  const known = holders.get(own)
  if (known !== undefined) return known
  const making = writeFileAtomically(own, String(process.pid))
  holders.set(own, making)
  making.catch(() => holders.get(own) === making && holders.delete(own))
  return making
}

/** A lock that cannot be filled, because the disk is full, is not left behind. */
async function writeLock(lock: string): Promise<void> {
  const file = await fs.open(lock, 'wx')
  try {
    await file.writeFile(String(process.pid))
  } catch (error) {
    await remove(lock)
    throw error
  } finally {
    await file.close()
  }
}

/** Unlike `rm`, it does not look at the file first. */
function remove(lock: string): Promise<void> {
  return fs.unlink(lock).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** One that has been released meanwhile counts as held, because another process may have taken it since. */
async function isHeld(lock: string): Promise<boolean> {
  try {
    const content = await fs.readFile(lock, 'utf8')
    // biome-ignore lint/plugin: calendar, against the time of a file
    if (content === '') return Math.abs(Date.now() - (await fs.stat(lock)).mtimeMs) < LOCK_FILLED_MS
    const holder = Number(content)
    return holder > 0 && holder !== process.pid && isAlive(holder)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
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
