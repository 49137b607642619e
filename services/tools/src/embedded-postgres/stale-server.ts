import { readdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefusal } from '@gateway/core/settings/refusal.js'

/** Time limit: on small machines a shutdown that flushes all data takes seconds at most. */
const FAST_SHUTDOWN_MS = 20_000
const LOOK_AGAIN_MS = 20

/**
 * Stops a Postgres that a killed process left behind in this data directory, and removes postmaster.pid. The file must
 * go, since Postgres takes any process with that number for its own, even a zombie or, in a container, another program. Removing it is safe,
 * because /proc shows that no process works in the directory. Without /proc nothing is done, and Postgres decides itself. The caller holds
 * the lock of the data.
 */
export async function stopStaleServer(dataDir: string): Promise<void> {
  if (!(await exists('/proc/self/cwd'))) return
  const pid = await recordedProcess(dataDir)
  if (pid === null) return
  if ((await processesIn(dataDir)).includes(pid)) process.kill(pid, 'SIGINT')
  const deadline = performance.now() + FAST_SHUTDOWN_MS
  for (let left = await processesIn(dataDir); left.length > 0; left = await processesIn(dataDir)) {
    if (performance.now() > deadline)
      throw new StartRefusal(`process ${left[0]} still works in ${dataDir} and does not end`)
    await sleep(LOOK_AGAIN_MS)
  }
  await rm(join(dataDir, 'postmaster.pid'), { force: true })
}

async function recordedProcess(dataDir: string): Promise<number | null> {
  try {
    return Number.parseInt(await readFile(join(dataDir, 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return null
  }
}

/** Returns living processes with this working directory: a Postgres server and its helpers, including orphaned ones. */
async function processesIn(dataDir: string): Promise<number[]> {
  const dir = await realpath(dataDir)
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const there = await Promise.all(pids.map(async (pid) => (await workingDirectory(pid)) === dir))
  return pids.filter((_, i) => there[i])
}

/** Returns null for a process that has ended meanwhile, and for one of another user. */
async function workingDirectory(pid: number): Promise<string | null> {
  try {
    return await readlink(`/proc/${pid}/cwd`)
  } catch {
    return null
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
