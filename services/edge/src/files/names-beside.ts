import fs from 'node:fs/promises'
import path from 'node:path'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'

/** Returns the names of a shapefile and of its parts, in order. Rejects with the errors of the disk; a missing folder has none. */
export async function namesBeside(shapefile: string): Promise<string[]> {
  const base = path.basename(shapefile).slice(0, -path.extname(shapefile).length)
  const entries = await fs.readdir(path.dirname(shapefile)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return entries.filter((name) => isPartOfShapefile(base, name)).sort()
}
