import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from '@gateway/store/connect.js'
import { knownSliceJobs, openSliceJobs } from '@gateway/store/slice-job-retention.js'
import { isUuid } from '../platform/http/input-validation.js'
import { logDirectory } from './job-log.js'
import { jobOfRun } from './layer-place.js'
import { scratchDirectory } from './tool-request.js'

/** Number of ids in one query. */
const BATCH = 1000

/** Age of leftovers. A tool works for a day at most (`DEFAULT_LIMITS`), so scratch untouched for two days is from a killed one. */
const SCRATCH_MS = 2 * 24 * 3_600_000

/** Removes the logs of jobs that are no longer in the store, and leftover scratch folders. A job is stored before its log exists. */
export async function pruneSliceFiles(sql: Sql, dataDir: string): Promise<void> {
  const logs = logDirectory(dataDir)
  const ids = (await namesIn(logs)).flatMap((name) => {
    const id = name.endsWith('.log') ? name.slice(0, -'.log'.length) : ''
    return isUuid(id) ? [id] : []
  })
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH)
    const known = await knownSliceJobs(sql, some)
    for (const id of some) if (!known.has(id)) await rm(join(logs, `${id}.log`), { force: true })
  }
  const scratch = scratchDirectory(dataDir)
  for (const name of await namesIn(scratch)) {
    const path = join(scratch, name)
    const touched = (await stat(path).catch(() => null))?.mtimeMs
    // biome-ignore lint/plugin: calendar, modification time of a file
    if (touched !== undefined && touched < Date.now() - SCRATCH_MS) await rm(path, { recursive: true, force: true })
  }
}

/** Removes the files of interrupted runs whose jobs have since been cancelled: no other run will resume them. */
export async function pruneLeftRuns(sql: Sql, workRoot: string): Promise<void> {
  for (const layer of await namesIn(workRoot)) {
    const found = await readdir(join(workRoot, layer)).catch(() => [])
    const runs = found.map((name) => ({ name, id: jobOfRun(name) })).filter(({ id }) => id !== null)
    if (runs.length === 0) continue
    const open = await openSliceJobs(sql, runs.map(({ id }) => id as string).slice(0, BATCH))
    for (const { name, id } of runs.slice(0, BATCH)) {
      if (!open.has(id as string)) await rm(join(workRoot, layer, name), { recursive: true, force: true })
    }
  }
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
