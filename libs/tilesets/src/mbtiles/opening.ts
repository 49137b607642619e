import type { NotOpened } from '@gateway/core/files/open-below.js'
import type { OpenedDatabase } from './database.js'
import type { DatabaseLayout } from './page-layout.js'
import type { TileQuery } from './queries.js'

/** An opened MBTiles 1.3 archive. */
export interface MbtilesArchive {
  /** identifies the content at the time of the opening */
  readonly identity: string
  readonly modifiedMs: number
  /** see `OpenedDatabase` */
  readonly fate: OpenedDatabase['fate']
  /** Returns the stored bytes of a tile, by XYZ; null if there is no such tile. Throws `BrokenArchiveError` and the disk's errors. */
  readonly tile: TileQuery
  /** positions of the tiles in the file; null: only `tile` finds them */
  readonly layout: DatabaseLayout | null
  close(): void
}

export type MbtilesOpening = { readonly ok: true; readonly archive: MbtilesArchive } | NotOpened
