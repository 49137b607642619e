import type { NotOpened } from '@gateway/files/open-below.js'
import { openTileTable } from '../geopackage/archive.js'
import { geopackagePlace } from '../geopackage/place.js'
import { type OpenedDatabase, openDatabase } from './database.js'
import { type DatabaseLayout, describePages } from './page-layout.js'
import { prepareTileQuery, type TileQuery } from './queries.js'

/** An opened MBTiles 1.3 archive. */
export interface MbtilesArchive {
  /** names the content as it was when the archive was opened */
  readonly identity: string
  readonly modifiedMs: number
  /** see `OpenedDatabase` */
  readonly fate: OpenedDatabase['fate']
  /** The stored bytes of a tile, by XYZ; null: there is no such tile. Throws `BrokenArchiveError` and the disk's errors. */
  readonly tile: TileQuery
  /** where the file has its tiles; null: only `tile` finds them */
  readonly layout: DatabaseLayout | null
  close(): void
}

export type MbtilesOpening = { readonly ok: true; readonly archive: MbtilesArchive } | NotOpened

/**
 * Opens an MBTiles archive, or a table of a GeoPackage, for serving. Rows are TMS, always: a `scheme` in the metadata is what some tools copied there from a TileJSON
 * document and says nothing about the rows. All of it waits for the disk, and for SQLite, which may take any time over a file that was made
 * for it: so `MbtilesReaders` has it done by another process. `describes`: its `layout` is wanted. Throws `BrokenArchiveError` and the disk's errors.
 */
export function openMbtiles(root: string, file: string, describes = true): MbtilesOpening {
  const table = geopackagePlace(file)
  if (table?.table != null) return openTileTable(root, table.file, table.table)
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
