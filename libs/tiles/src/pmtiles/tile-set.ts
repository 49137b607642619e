import fs from 'node:fs'
import type { NotOpened } from '@gateway/files/open-below.js'
import type { TileSet } from '../tile-set.js'
import { openArchive } from './archive.js'
import { encodingOfTiles } from './header.js'

/** Opens a PMTiles archive for serving; `locate` answers ranges of the one descriptor. Throws `BrokenArchiveError`. */
export function openPmtiles(root: string, file: string): { readonly ok: true; readonly tileSet: TileSet } | NotOpened {
  const opening = openArchive(root, file)
  if (!opening.ok) return opening
  const { fd, header, identity, modifiedMs, find } = opening.archive
  const encoding = encodingOfTiles(header.tileCompression, header.tileType)
  const tileSet: TileSet = {
    storage: 'pmtiles',
    locate: (z, x, y) => {
      const range = find(z, x, y)
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
    },
    close: () => fs.closeSync(fd),
  }
  return { ok: true, tileSet }
}
