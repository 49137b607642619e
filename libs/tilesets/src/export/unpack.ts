import fs from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { tileIdToZxy } from 'pmtiles'
import { openArchive, readJson } from '../pmtiles/archive.js'
import { formatOfType } from '../pmtiles/header.js'
import { storedTiles } from './stored-tiles.js'
import { MAX_EXPORTED_TILES, tooMany } from './tile-numbers.js'

export interface UnpackTask {
  /** absolute */
  readonly archive: string
  /** absolute; created by this task */
  readonly folder: string
  /** path for the archive's JSON metadata, next to the zoom folders */
  readonly metadataFile: string
}

/**
 * Extracts the tiles of a PMTiles archive as `{folder}/{z}/{x}/{y}.{format}`, with its metadata next to them: the reverse of writing it from such a folder.
 * The caller removes a partial result after a crash. Throws `BrokenArchiveError` and the disk's errors.
 */
export async function unpackPmtiles({ archive: file, folder, metadataFile }: UnpackTask): Promise<{ tiles: number }> {
  const root = path.dirname(file)
  const { format, metadata } = await describe(root, file)
  const set = { storage: 'pmtiles', format, path: file, root, extension: format } as const
  const stored = await storedTiles(set, { minZoom: 0, maxZoom: 26, bounds: null })
  if (stored === null) throw new Error('the archive is missing')
  try {
    if (stored.count > MAX_EXPORTED_TILES) throw tooMany()
    let column = ''
    for await (const { tileId, runLength = 1, data } of stored.tiles) {
      for (let id = tileId; id < tileId + runLength; id++) {
        const [z, x, y] = tileIdToZxy(id)
        const own = path.join(folder, String(z), String(x))
        if (own !== column) await mkdir(own, { recursive: true })
        column = own
        await writeFile(path.join(own, `${y}.${format}`), data)
      }
    }
    await writeFile(path.join(folder, metadataFile), JSON.stringify(metadata))
    return { tiles: stored.count }
  } finally {
    stored.close()
  }
}

async function describe(root: string, file: string): Promise<{ format: TileFormat; metadata: unknown }> {
  const opening = await openArchive(root, file)
  if (!opening.ok) throw new Error('the archive is missing')
  try {
    const format = formatOfType(opening.archive.header.tileType)
    if (format === null) throw new Error('the archive does not name the format of its tiles')
    return { format, metadata: await readJson(opening.archive) }
  } finally {
    fs.close(opening.archive.fd, () => {})
  }
}
