import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buildFolders } from '@gateway/store/vector-builds.js'
import type { ControlContext } from '../platform/context.js'

/** Time in ms for which an edge that has not applied the change yet may read an old build after the next one is ready. */
const GRACE_MS = 600_000

/** Removes builds that are no longer served, after a grace. */
export async function removeOldBuilds({ sql, settings, now }: ControlContext): Promise<void> {
  const root = settings.vectorBuildRoot
  for (const code of await namesIn(root)) {
    for (const name of await namesIn(join(root, code))) {
      const folder = join(root, code, name)
      const touched = (await stat(folder).catch(() => null))?.ctimeMs
      if (touched === undefined || touched > now() - GRACE_MS) continue
      // Read again for each folder: its build may have become the served one meanwhile.
      const served = await buildFolders(sql)
      if (!served.has(folder) && !(name.endsWith('.tmp') && touched > now() - 25 * 3_600_000))
        await rm(folder, { recursive: true, force: true })
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}
