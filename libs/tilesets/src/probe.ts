import path from 'node:path'
import { probeFolder } from './folder/probe.js'
import { probeMbtiles } from './mbtiles/probe.js'
import { probePmtiles } from './pmtiles/probe.js'
import type { TileSetProbe } from './tile-set.js'

/** The storage of an archive by its file name; null: not an archive. */
export function archiveStorageOf(fileName: string): 'mbtiles' | 'pmtiles' | null {
  const extension = path.extname(fileName).toLowerCase()
  if (extension === '.mbtiles') return 'mbtiles'
  return extension === '.pmtiles' ? 'pmtiles' : null
}

/**
 * Looks at one version below the scan source `root`: an archive, or a folder above zoom folders. null: nothing to serve there (absent,
 * no tile yet, or a symbolic link that leads out of `root`). Throws `BrokenArchiveError` for an archive that cannot be served, and the
 * disk's errors, permission included: an error is not an empty result.
 */
export async function probeTileSet(root: string, file: string): Promise<TileSetProbe | null> {
  return archiveStorageOf(file) === null ? probeFolder(root, file) : probeArchive(root, file)
}

/** `probeTileSet` for a file whose name ends in `.mbtiles` or `.pmtiles`. */
export async function probeArchive(root: string, file: string): Promise<TileSetProbe | null> {
  return archiveStorageOf(file) === 'mbtiles' ? probeMbtiles(root, file) : probePmtiles(root, file)
}
