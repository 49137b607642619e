/** Locks between processes of one machine, by flock(2): the kernel takes back the lock of a process that has ended, however it ended. */
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 100
/** Time in ms after which a wait is told. Starts at the same time wait for each other for less, and need no line about it. */
const TOLD_AFTER_MS = 5_000

/** Exit code of flock(1) if another process holds the lock. */
const HELD = 1

/**
 * Takes the lock or returns the process that holds it. Without util-linux, as outside of Linux, nothing is locked. Throws if the file cannot be
 * created or its file system does not support locks.
 * @param {string} path of the lock file, which remains when the lock is released; its folder must exist
 * @returns {{ok: boolean, release?: () => void, pid?: number}} `release` if it is taken, otherwise `pid` of the holder
 */
export function tryLock(path) {
  const fd = openSync(path, 'a+')
  // Node has no flock(2). The command locks the open file that it inherits, which stays locked as long as this process has it open.
  /** @type {{ status: number | null, error?: NodeJS.ErrnoException }} */
  const { status, error } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  if (status === 0 || error?.code === 'ENOENT') {
    ftruncateSync(fd)
    writeSync(fd, String(process.pid))
    return { ok: true, release: () => closeSync(fd) }
  }
  closeSync(fd)
  if (status !== HELD) throw new Error(`${path} cannot be locked (${error?.message ?? `flock ended with ${status}`})`)
  return { ok: false, pid: Number(readFileSync(path, 'utf8')) }
}

/**
 * Takes the lock, waiting for the process that holds it.
 * @param {string} path
 * @param {(pid: number) => void} onWait called once, if a process holds it for longer than starts usually take
 * @param {number} [toldAfterMs]
 * @returns {Promise<() => void>} releases the lock
 */
export async function waitForLock(path, onWait, toldAfterMs = TOLD_AFTER_MS) {
  const since = performance.now()
  for (let told = false; ; ) {
    const attempt = tryLock(path)
    if (attempt.ok) return attempt.release
    if (!told && performance.now() - since >= toldAfterMs) {
      told = true
      onWait(attempt.pid)
    }
    await sleep(RETRY_MS)
  }
}
