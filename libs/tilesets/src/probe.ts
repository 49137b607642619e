import path from 'node:path'
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
  if (archiveStorageOf(file) !== null) return probeArchive(root, file)
  const { probeFolder } = await import('./folder/probe.js')
  return probeFolder(root, file)
}

/** `probeTileSet` for a file whose name ends in `.mbtiles` or `.pmtiles`. */
export async function probeArchive(root: string, file: string): Promise<TileSetProbe | null> {
  // SQLite and the readers of PMTiles are loaded where there is such an archive: short processes begin with this file.
  if (archiveStorageOf(file) === 'mbtiles') {
    const { probeMbtiles } = await import('./mbtiles/probe.js')
    return probeMbtiles(root, file)
  }
  const { probePmtiles } = await import('./pmtiles/probe.js')
  return probePmtiles(root, file)
}
