import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SETTLE_MS } from './settling.js'

/** Level of the columns of tiles, the fourth: `{code}/{version}/{z}/{x}`. */
const COLUMN_LEVEL = 4

/**
 * True if tiles are being written into a version, which is watched only down to its zooms: a column changes with each tile that is made in it. Uses
 * the wall clock, like the times of files.
 */
export async function isBeingWritten(root: string, path: string): Promise<boolean> {
  // biome-ignore lint/plugin: calendar
  const now = Date.now()
  return await hasChanged(join(root, path), COLUMN_LEVEL - path.split('/').length, now)
}

/** True if the folder, or one up to `levels` below it, has changed within the settling time. */
async function hasChanged(folder: string, levels: number, now: number): Promise<boolean> {
  const stat = await lstat(folder).catch(() => null)
  if (stat === null) return false
  const age = now - stat.mtimeMs
  // A file server with a fast clock must not delay everything.
  if (age >= 0 && age < SETTLE_MS) return true
  if (levels === 0 || !stat.isDirectory()) return false
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries)
    if (entry.isDirectory() && (await hasChanged(join(folder, entry.name), levels - 1, now))) return true
  return false
}
