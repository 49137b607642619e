import path from 'node:path'
import type { Storage } from '@gateway/contracts/basemap.js'
import { BrokenArchiveError } from './broken-archive.js'
import { geopackagePlace } from './geopackage/place.js'
import type { TileSetProbe } from './tile-set.js'

/** Storages that consist of one file, by its extension. */
const ARCHIVES: ReadonlyMap<string, Storage> = new Map([
  ['.mbtiles', 'mbtiles'],
  ['.pmtiles', 'pmtiles'],
  ['.tpkx', 'tpkx'],
  ['.vtpk', 'vtpk'],
  ['.gpkg', 'geopackage'],
  ['.tif', 'cog'],
  ['.tiff', 'cog'],
])

/** Returns the storage of an archive by its file name, or by the path of a table in a GeoPackage; null if it is not an archive. */
export function archiveStorageOf(fileName: string): Storage | null {
  const own = ARCHIVES.get(path.extname(fileName).toLowerCase())
  return own ?? (geopackagePlace(fileName) === null ? null : 'geopackage')
}

/**
 * Examines one version below the scan source `root`: an archive, or a folder of tiles. Returns null if there is nothing to serve (the path does
 * not exist, has no tile yet, or is a symbolic link that leads out of `root`). Throws `BrokenArchiveError` for an archive that cannot be served,
 * and the disk's errors, including missing permission: an error is not an empty result.
 */
export async function probeTileSet(root: string, file: string): Promise<TileSetProbe | null> {
  if (archiveStorageOf(file) !== null) return probeArchive(root, file)
  const { listNames } = await import('./folder/listing.js')
  const names = await listNames(root, file)
  if (names.some((name) => CACHE_NAMES.has(name))) {
    const probe = await probeCache(root, file, names)
    if (probe !== null) return probe
  }
  if (names.some((name) => LAYOUT_NAMES.test(name))) {
    const { probeLayout } = await import('./layouts/probe.js')
    const probe = await probeLayout(root, file)
    if (probe !== null) return probe
  }
  const { probeFolder } = await import('./folder/probe.js')
  const probe = await probeFolder(root, file, names)
  if (probe?.transposed === undefined) return probe
  const { probeTransposed } = await import('./layouts/probe.js')
  return probeTransposed(root, file, probe.transposed, 'bounds')
}

/** Examines a folder as an Esri cache. Its files are ignored, with a warning, if they are damaged and the folder has tiles under other names. */
async function probeCache(root: string, file: string, names: readonly string[]): Promise<TileSetProbe | null> {
  const { probeEsri } = await import('./esri/probe.js')
  try {
    return await probeEsri(root, file, null)
  } catch (error) {
    if (!(error instanceof BrokenArchiveError)) throw error
    const { probeFolder } = await import('./folder/probe.js')
    const probe = await probeFolder(root, file, names)
    if (probe === null) throw error
    return { ...probe, warnings: [...probe.warnings, `it is not served as an Esri cache: ${error.message}`] }
  }
}

/** Names in a folder that suggest an Esri cache, or a layout of MapProxy. */
const CACHE_NAMES: ReadonlySet<string> = new Set(['conf.xml', 'root.json', 'Layers', 'p12'])
const LAYOUT_NAMES = /^(?:\d\d|L\d\d|[0-3]*\.\w+)$/

/** `probeTileSet` for an archive. */
export async function probeArchive(root: string, file: string): Promise<TileSetProbe | null> {
  // SQLite and the readers of archives are loaded only on demand, because short-lived processes start with this file.
  const storage = archiveStorageOf(file)
  switch (storage) {
    case 'mbtiles': {
      const { probeMbtiles } = await import('./mbtiles/probe.js')
      return probeMbtiles(root, file)
    }
    case 'geopackage': {
      const { probeGeopackage } = await import('./geopackage/archive.js')
      return probeGeopackage(root, file)
    }
    case 'tpkx':
    case 'vtpk': {
      const { probeEsri } = await import('./esri/probe.js')
      return probeEsri(root, file, storage)
    }
    case 'cog': {
      const { probeCog } = await import('./cog/open.js')
      return probeCog(root, file)
    }
    default: {
      const { probePmtiles } = await import('./pmtiles/probe.js')
      return probePmtiles(root, file)
    }
  }
}
