/**
 * A lock file that names its holder, for processes of one machine. Plain JavaScript without dependencies: it is needed
 * before anything is installed.
 */
import { linkSync, mkdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How often a waiting process looks again; the file system tells nobody portably that a file has gone. */
const LOOK_AGAIN_MS = 100

/** Taking over is a few system calls; a take-over older than this was killed in the middle. */
const TAKEOVER_ABANDONED_MS = 5_000

/**
 * Takes the lock, or says who holds it. The lock of a process that no longer runs is taken over.
 * @param {string} path of the lock file; its folder must exist
 * @returns {{ok: true, release: () => void} | {ok: false, pid: number}}
 */
export function tryLock(path) {
  const mine = JSON.stringify({ pid: process.pid, started: startTime(process.pid) })
  for (;;) {
    if (createWhole(path, mine)) return { ok: true, release: () => release(path, mine) }
    const theirs = readOrNull(path)
    if (theirs === null) continue
    const pid = livingHolder(theirs)
    if (pid !== null) return { ok: false, pid }
    removeStale(path, theirs)
  }
}

/**
 * Takes the lock, waiting for whoever holds it.
 * @param {string} path
 * @param {(pid: number) => void} onWait called once, when there is someone to wait for
 * @returns {Promise<() => void>} gives the lock back
 */
export async function waitForLock(path, onWait) {
  for (let told = false; ; told = true) {
    const attempt = tryLock(path)
    if (attempt.ok) return attempt.release
    if (!told) onWait(attempt.pid)
    await sleep(LOOK_AGAIN_MS)
  }
}

/** A hard link makes the file appear with its content, so that nobody ever reads an empty lock. */
function createWhole(path, text) {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text)
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
}

function release(path, mine) {
  if (readOrNull(path) === mine) unlinkSync(path)
}

/** Only one process at a time may take over, or it could remove the lock of one that was quicker. */
function removeStale(path, stale) {
  const guard = `${path}.takeover`
  try {
    mkdirSync(guard)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (ageMs(guard) > TAKEOVER_ABANDONED_MS) removeIgnoringMissing(() => rmdirSync(guard))
    return
  }
  try {
    if (readOrNull(path) === stale) unlinkSync(path)
  } finally {
    removeIgnoringMissing(() => rmdirSync(guard))
  }
}

/** The process id in a lock's text if that very process still runs; null for a dead one or an unreadable text. */
function livingHolder(text) {
  let holder
  try {
    holder = JSON.parse(text)
  } catch {
    return null
  }
  if (!Number.isInteger(holder?.pid) || holder.pid <= 0) return null
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (error.code === 'ESRCH') return null
  }
  // The same number may have been given to another process since; on Linux the start time tells.
  return holder.started === startTime(holder.pid) ? holder.pid : null
}

/**
 * When the process started, in clock ticks since boot (fields 3 and 22 of proc(5) stat); null where there is no /proc, and for a process
 * that has ended and only waits to be reaped.
 */
function startTime(pid) {
  const stat = readOrNull(`/proc/${pid}/stat`)
  if (stat === null) return null
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? null : Number(fields[18])
}

function readOrNull(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // A process can end between the opening and the reading of its file in /proc.
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null
    throw error
  }
}

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return 0
  }
}

function removeIgnoringMissing(remove) {
  try {
    remove()
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}
