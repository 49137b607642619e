import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { METADATA_FILE } from './protocol.js'

/** Prefix of folders next to a layer's versions that are being created or removed. The dot hides them from scans. */
export const STAGING_MARK = '.staging-'

/** Number of columns whose tiles are renamed at the same time. */
const COLUMNS_AT_A_TIME = 8

/**
 * Moves staged tiles into the served layer and removes the staging folder. Both must be on one file system. Resolves
 * with the number of moved tiles (0 if the layer was new and the folder moved as a whole).
 *
 * A new layer appears by one rename. In an existing layer every tile is replaced by a rename, so that no reader sees a
 * torn one. The deepest zoom goes first, so that new content of an overview is there when a user zooms in. The metadata
 * goes last, so that zooms and bounds never promise missing tiles. A crash in between leaves old and new tiles side by
 * side: another call moves the rest, and a run from the start over such a layer ends in the same layer, because merging
 * a source twice changes nothing.
 */
export async function publishStaged(staging: string, layer: string): Promise<number> {
  if (await becomesLayer(staging, layer)) return 0
  let moved = 0
  for (const zoom of await zoomsOf(staging)) {
    const columns = await readdir(join(staging, zoom))
    for (let at = 0; at < columns.length; at += COLUMNS_AT_A_TIME) {
      const some = columns.slice(at, at + COLUMNS_AT_A_TIME)
      const counts = await Promise.all(some.map((x) => moveColumn(join(staging, zoom, x), join(layer, zoom, x))))
      for (const count of counts) moved += count
    }
    await rmdir(join(staging, zoom))
  }
  await rename(join(staging, METADATA_FILE), join(layer, METADATA_FILE)).catch(unlessAbsent)
  await rm(staging, { recursive: true, force: true })
  return moved
}

async function becomesLayer(staging: string, layer: string): Promise<boolean> {
  if ((await readdir(layer).catch(unlessAbsent))?.length) return false
  await mkdir(dirname(layer), { recursive: true })
  try {
    // The same rename replaces an empty folder in its place.
    await rename(staging, layer)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

/** Lists the zoom folders, the deepest first. */
async function zoomsOf(staging: string): Promise<string[]> {
  const names = (await readdir(staging).catch(unlessAbsent)) ?? []
  return names.filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(b) - Number(a))
}

async function moveColumn(from: string, to: string): Promise<number> {
  await mkdir(to, { recursive: true })
  const tiles = await readdir(from)
  for (const tile of tiles) await rename(join(from, tile), join(to, tile))
  await rmdir(from)
  return tiles.length
}

function unlessAbsent(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
