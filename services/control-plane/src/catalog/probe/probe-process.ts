import { statfsSync } from 'node:fs'
import { serve } from '@gateway/core/processes/serve.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import type { RowOrderTask } from '@gateway/tilesets/rows/find-row-order.js'
import type { ProbeAnswer, ProbeTask } from './probe-result.js'
import { isLockedArchive, unreadable } from './unreadable.js'

serve<ProbeTask, ProbeAnswer<unknown>>(async ({ root, path, what, rows }) => {
  try {
    if (what === 'file system') {
      // No cache can serve this call.
      statfsSync(path)
      return { state: 'empty' }
    }
    if (what === 'row order') {
      const { findRowOrder } = await import('@gateway/tilesets/rows/find-row-order.js')
      return { state: 'ok', probe: await findRowOrder(root, path, rows as RowOrderTask) }
    }
    if (what === 'tile tables') {
      const { listTileTables } = await import('@gateway/tilesets/geopackage/archive.js')
      const tables = listTileTables(root, path)
      return tables === null ? { state: 'empty' } : { state: 'ok', probe: tables }
    }
    const probe = what === 'geopackage' ? await geopackage(root, path) : await probeTileSet(root, path)
    return probe === null ? { state: 'empty' } : { state: 'ok', probe }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof BrokenArchiveError) return { state: 'broken', why: message }
    return isLockedArchive(error) ? { state: 'busy' } : (unreadable(error) ?? { state: 'failed', message })
  }
})

/** Most probed files are tile sets, so the code for vectors is loaded on demand. */
async function geopackage(root: string, path: string) {
  const { geopackageFacts } = await import('@gateway/vectors/formats/geopackage.js')
  return geopackageFacts(root, path)
}
