import { openTileTable } from '../geopackage/archive.js'
import { geopackagePlace } from '../geopackage/place.js'
import { openDatabase } from './database.js'
import type { MbtilesOpening } from './opening.js'
import { describePages } from './page-layout.js'
import { prepareTileQuery } from './queries.js'

/**
 * Opens an MBTiles archive, or a table of a GeoPackage, for serving. Rows are always TMS: a `scheme` in the metadata was copied by some tools from a
 * TileJSON document and says nothing about the rows. All calls wait for the disk and for SQLite, which may take any time for a malicious file,
 * so `MbtilesReaders` runs them in another process. `describes`: also determine `layout`. Throws `BrokenArchiveError` and the disk's errors.
 */
export function openMbtiles(root: string, file: string, describes = true): MbtilesOpening {
  const table = geopackagePlace(file)
  if (table?.table != null) return openTileTable(root, { file: table.file, table: table.table }, describes)
  const opened = openDatabase(root, file)
  if (!opened.ok) return opened
  const { database, identity, modifiedMs, fate, size, pages } = opened
  try {
    const tile = prepareTileQuery(database, size)
    const layout = pages === null || !describes ? null : describePages(database, pages)
    return { ok: true, archive: { identity, modifiedMs, fate, tile, layout, close: () => database.close() } }
  } catch (error) {
    database.close()
    throw error
  }
}
