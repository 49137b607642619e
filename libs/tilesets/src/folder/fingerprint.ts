import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileCall } from '@gateway/core/files/paced-calls.js'
import { spread, type ZoomListing } from './listing.js'

/** Maximum number of column folders of one zoom whose time is read. */
const MAX_STATTED_COLUMNS = 1_024

/**
 * Returns a fingerprint that changes when metadata, zoom folders or columns are added or removed, or tiles are added, removed or renamed into place in
 * a sampled column: all columns up to 1,024 of a zoom, beyond that an even sample. A tile that is rewritten in place changes nothing in its folder.
 */
export async function folderFingerprint(
  about: readonly string[],
  metadata: readonly Uint8Array[],
  zooms: readonly ZoomListing[],
): Promise<string> {
  const hash = createHash('sha256')
  hash.update(JSON.stringify(about))
  for (const content of metadata) hash.update(`\n${content.length}\n`).update(content)
  for (const zoom of zooms) {
    const looked = spread(zoom.columns, MAX_STATTED_COLUMNS)
    const times = await Promise.all(looked.map((x) => timeOf(path.join(zoom.folder, String(x)))))
    hash.update(`\n${zoom.z} ${await timeOf(zoom.folder)}\n${zoom.columns.join()}\n${times.join()}`)
  }
  return hash.digest('hex').slice(0, 32)
}

async function timeOf(folder: string): Promise<string> {
  try {
    const { mtimeNs } = await fileCall(
      () => fs.statSync(folder, { bigint: true }),
      () => fs.promises.stat(folder, { bigint: true }),
    )
    return mtimeNs.toString(36)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone'
    throw error
  }
}
