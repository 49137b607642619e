import type { NotOpened } from '@gateway/files/open-below.js'
import { flipRow } from '../address.js'
import { encodingOf } from '../formats.js'
import type { TileLocation, TileSet } from '../tile-set.js'
import { openDatabaseLater } from './database.js'
import { prepareTileQuery, type TileQuery } from './queries.js'

/**
 * Opens an MBTiles 1.3 archive for serving. Rows are TMS, always: a `scheme` in the metadata is what some tools copied there from a
 * TileJSON document and says nothing about the rows. Rejects with `BrokenArchiveError`.
 */
export async function openMbtiles(
  root: string,
  file: string,
): Promise<{ readonly ok: true; readonly tileSet: TileSet } | NotOpened> {
  const opened = await openDatabaseLater(root, file)
  if (!opened.ok) return opened
  const { database, identity, modifiedMs, size } = opened
  let query: TileQuery
  try {
    query = prepareTileQuery(database, size)
  } catch (error) {
    database.close()
    throw error
  }
  const locate = (z: number, x: number, y: number): TileLocation | null => {
    const data = query(z, x, flipRow(z, y))
    if (data === null) return null
    return { kind: 'bytes', data, encoding: encodingOf(data), identity: `${identity}-${z}-${x}-${y}`, modifiedMs }
  }
  const tileSet: TileSet = {
    storage: 'mbtiles',
    locate,
    locateLater: async (z, x, y) => locate(z, x, y),
    close: () => database.close(),
  }
  return { ok: true, tileSet }
}
