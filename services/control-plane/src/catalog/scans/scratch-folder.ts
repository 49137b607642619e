import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlContext } from '../../platform/context.js'

/** Age of leftovers. A scan takes hours at most; older folders are from killed processes. */
const LEFT_BEHIND_MS = 24 * 3600 * 1000

/** Creates a directory for the temporary files of one scan. The caller removes it. */
export async function scratchFolder({ settings, now }: Pick<ControlContext, 'settings' | 'now'>): Promise<string> {
  const all = join(settings.dataDir, 'scans')
  await mkdir(all, { recursive: true })
  for (const name of await readdir(all)) {
    const folder = join(all, name)
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: now() }))
    if (now() - mtimeMs > LEFT_BEHIND_MS) await rm(folder, { recursive: true, force: true })
  }
  return mkdtemp(join(all, 'scan-'))
}
