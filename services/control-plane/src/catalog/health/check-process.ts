import { closeSync, type Dirent, readdirSync, readSync, realpathSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { currentRealRoot, isBelow } from '@gateway/core/files/real-root.js'
import { serve } from '@gateway/core/processes/serve.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { formatOfExtension } from '@gateway/tilesets/formats.js'
import { probeArchive, probeTileSet } from '@gateway/tilesets/probe.js'
import { flatgeobufFacts } from '@gateway/vectors/formats/flatgeobuf.js'
import { geopackageFacts } from '@gateway/vectors/formats/geopackage.js'
import { examineGeojson } from '../probe/geojson.js'
import { isLockedArchive } from '../probe/unreadable.js'
import { type FileState, type Place, THERE } from './place.js'

/** `file system`: only checks whether the file system of the path responds. */
export interface CheckTask extends Place {
  readonly what: 'content' | 'file system'
}

serve<CheckTask, FileState>(async (task) => {
  try {
    if (task.what === 'content') return await checkContent(task)
    // No cache can serve this call.
    statfsSync(task.path)
    return THERE
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof BrokenArchiveError) return gone(message)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return NOT_THERE
    return { presence: 'unknown', why: message }
  }
})

function gone(why: string): FileState {
  return { presence: 'gone', why }
}

const NOT_THERE = gone('it is missing')

async function checkContent(place: Place): Promise<FileState> {
  if (place.is === 'tile tree') return checkTree(place)
  if (place.is === 'tile set') {
    const check = async () =>
      (await probeTileSet(place.root, place.path)) === null ? gone('it holds no tiles') : THERE
    return unlessLocked(check)
  }
  const head = readHead(place)
  if (typeof head === 'string')
    return head === 'unreadable' ? { presence: 'unknown', why: 'permission denied' } : NOT_THERE
  switch (place.is) {
    case 'archive':
      return unlessLocked(async () =>
        (await probeArchive(place.root, place.path)) === null ? gone('it holds no tiles') : THERE,
      )
    case 'geopackage':
      return unlessLocked(() => (geopackageFacts(place.root, place.path) === null ? NOT_THERE : THERE))
    case 'flatgeobuf':
      return flatgeobufFacts(place.root, place.path) === null ? NOT_THERE : THERE
    case 'geojson':
      return examineGeojson(place.root, place.path) === 'geojson' ? THERE : gone('it is cut off, or is not GeoJSON')
    case 'geojson_sequence':
    case 'zipped_shapefile':
    case 'kml':
    case 'kmz':
    case 'gml':
    case 'csv':
    case 'gpx':
    case 'dxf':
    case 'zipped_geodatabase':
    case 'zipped_mapinfo':
      return head.length > 0 ? THERE : gone('it is empty')
    case 'shapefile':
      return isShapefile(head) ? THERE : gone('it is not a shapefile')
  }
}

/** ESRI Shapefile Technical Description: the main file begins with 100 bytes, and the first four of them are this number. */
const SHAPEFILE_HEADER_BYTES = 100
const SHAPEFILE_CODE = 9994

function isShapefile(head: Buffer): boolean {
  return head.length === SHAPEFILE_HEADER_BYTES && head.readInt32BE(0) === SHAPEFILE_CODE
}

/** Returns the first bytes of a file, or the reason why it was not opened. */
function readHead({ root, path }: Place): Buffer | string {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return opened.reason
  try {
    const head = Buffer.alloc(SHAPEFILE_HEADER_BYTES)
    return head.subarray(0, readSync(opened.fd, head, 0, head.length, 0))
  } finally {
    closeSync(opened.fd)
  }
}

/** A database that another program is writing at this moment exists. */
async function unlessLocked(check: () => FileState | Promise<FileState>): Promise<FileState> {
  try {
    return await check()
  } catch (error) {
    if (isLockedArchive(error)) return THERE
    throw error
  }
}

/** A folder without a tile is a version whose tiles were deleted or whose disk is not mounted. */
function checkTree({ root, path }: Place): FileState {
  const real = realpathSync.native(path)
  if (!isBelow(currentRealRoot(root), real)) return NOT_THERE
  const tile = firstTile(real, 2)
  if (tile === null) return gone('it holds no tiles')
  const opened = openBelowSync(root, tile)
  if (!opened.ok) return { presence: 'unknown', why: `a tile of it is ${opened.reason.replaceAll('_', ' ')}` }
  try {
    readSync(opened.fd, Buffer.alloc(1), 0, 1, 0)
    return THERE
  } finally {
    closeSync(opened.fd)
  }
}

/** Returns a tile below a folder, `levels` levels of numbered folders down. */
function firstTile(folder: string, levels: number): string | null {
  const entries = readdirSync(folder, { withFileTypes: true })
  if (levels === 0) {
    const tile = entries.find((entry) => !entry.isDirectory() && isTileName(entry.name))
    return tile === undefined ? null : join(folder, tile.name)
  }
  for (const entry of entries) {
    const found = mayHoldTiles(entry) ? firstTile(join(folder, entry.name), levels - 1) : null
    if (found !== null) return found
  }
  return null
}

function isTileName(name: string): boolean {
  const dot = name.indexOf('.')
  return dot > 0 && /^\d+$/.test(name.slice(0, dot)) && formatOfExtension(name.slice(dot + 1)) !== null
}

function mayHoldTiles(entry: Dirent): boolean {
  return (entry.isDirectory() || entry.isSymbolicLink()) && /^\d+$/.test(entry.name)
}
