import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SETTLE_MS } from './settling.js'

/** Columns of tiles stand at the fourth level: `{code}/{version}/{z}/{x}`. */
const COLUMN_LEVEL = 4

/**
 * Whether tiles are written below a version that is watched down to its zooms: a column changes with each tile that is made in it. By the clock of
 * the calendar, as times of files are.
 */
export async function isBeingWritten(root: string, path: string): Promise<boolean> {
  // biome-ignore lint/plugin: calendar
  const now = Date.now()
  return await hasChanged(join(root, path), COLUMN_LEVEL - path.split('/').length, now)
}

/** Whether the folder, or one so many levels below it, has changed within the time in which changes settle. */
async function hasChanged(folder: string, levels: number, now: number): Promise<boolean> {
  const stat = await lstat(folder).catch(() => null)
  if (stat === null) return false
  const age = now - stat.mtimeMs
  // A file server whose clock is fast does not hold up everything.
  if (age >= 0 && age < SETTLE_MS) return true
  if (levels === 0 || !stat.isDirectory()) return false
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries)
    if (entry.isDirectory() && (await hasChanged(join(folder, entry.name), levels - 1, now))) return true
  return false
}
