import fs from 'node:fs'
import type { NotOpened } from '@gateway/files/open-below.js'
import type { TileLocation, TileSet } from '../tile-set.js'
import { openArchiveLater } from './archive.js'
import { encodingOfTiles, type Section } from './header.js'

/** Opens a PMTiles archive for serving; `locate` answers ranges of the one descriptor. Rejects with `BrokenArchiveError`. */
export async function openPmtiles(
  root: string,
  file: string,
): Promise<{ readonly ok: true; readonly tileSet: TileSet } | NotOpened> {
  const opening = await openArchiveLater(root, file)
  if (!opening.ok) return opening
  const { fd, header, identity, modifiedMs, find, findLater } = opening.archive
  const encoding = encodingOfTiles(header.tileCompression, header.tileType)
  const toLocation = (range: Section | null): TileLocation | null => {
    if (range === null) return null
    const { offset, length } = range
    return {
      kind: 'range',
      fd,
      offset,
      length,
      encoding,
      // Not the address: tiles of equal content, stored once, share their place in every cache.
      identity: `${identity}-${offset.toString(36)}-${length.toString(36)}`,
      modifiedMs,
    }
  }
  const tileSet: TileSet = {
    storage: 'pmtiles',
    locate: (z, x, y, read) => {
      const range = find(z, x, y, read)
      return range === 'not_now' ? range : toLocation(range)
    },
    locateLater: async (z, x, y) => toLocation(await findLater(z, x, y)),
    // Closing may ask a network file system.
    close: () => fs.close(fd, () => {}),
  }
  return { ok: true, tileSet }
}
