import { readFile, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A shutdown that writes everything out takes seconds at most on the small machines this is for. */
const FAST_SHUTDOWN_MS = 20_000
const LOOK_AGAIN_MS = 20

/**
 * Ends a Postgres that still serves this data directory although the process that started it is gone: killed a moment ago, so that
 * its Postgres is still writing out, or killed where children outlive their parents. The caller holds the lock of the data.
 */
export async function endLeftBehind(dataDir: string): Promise<void> {
  const pid = await servingProcess(dataDir)
  if (pid === null) return
  process.kill(pid, 'SIGINT')
  if (await isGone(dataDir, pid, FAST_SHUTDOWN_MS)) return
  process.kill(pid, 'SIGQUIT')
  await isGone(dataDir, pid, FAST_SHUTDOWN_MS)
}

async function isGone(dataDir: string, pid: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while ((await servingProcess(dataDir)) === pid) {
    if (Date.now() > deadline) return false
    await sleep(LOOK_AGAIN_MS)
  }
  return true
}

/**
 * The process named in postmaster.pid, if it is a Postgres of this very directory: after a crash of the machine the number may belong to
 * anything. Postgres works in its data directory, which /proc tells; where there is no /proc nobody is ended.
 */
async function servingProcess(dataDir: string): Promise<number | null> {
  try {
    const pid = Number.parseInt(await readFile(join(dataDir, 'postmaster.pid'), 'utf8'), 10)
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(dataDir)) ? pid : null
  } catch {
    return null
  }
}
