import fs from 'node:fs/promises'
import path from 'node:path'

/** Age in ms of a temporary file that was left by a dead process. */
const ABANDONED_MS = 60 * 60 * 1000

/** Removes the oldest zips until the folder contains at most `maxBytes`, except `spared`, and abandoned temporary files. */
export async function trimZipFolder(folder: string, maxBytes: number, spared: string, nowMs: number): Promise<void> {
  const zips: { file: string; size: number; mtimeMs: number }[] = []
  for (const name of await fs.readdir(folder)) {
    const file = path.join(folder, name)
    const stat = await fs.stat(file).catch(() => null)
    if (stat === null) continue
    if (name.endsWith('.zip')) zips.push({ file, size: stat.size, mtimeMs: stat.mtimeMs })
    else if (name.endsWith('.tmp') && nowMs - stat.mtimeMs > ABANDONED_MS) await fs.rm(file, { force: true })
  }
  let total = zips.reduce((sum, zip) => sum + zip.size, 0)
  zips.sort((a, b) => a.mtimeMs - b.mtimeMs)
  for (const zip of zips) {
    if (total <= maxBytes) return
    if (zip.file === spared) continue
    await fs.rm(zip.file, { force: true })
    total -= zip.size
  }
}
