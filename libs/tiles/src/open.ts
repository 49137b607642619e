import type { Storage } from '@gateway/contracts/basemap.js'
import type { NotOpened } from '@gateway/files/open-below.js'
import { openFolderTileSet } from './folder/tile-set.js'
import { openMbtiles } from './mbtiles/tile-set.js'
import { openPmtiles } from './pmtiles/tile-set.js'
import type { TileSet } from './tile-set.js'

/** What the catalog knows of a version that is to be served. */
export interface TileSetSpec {
  readonly storage: Storage
  /** the folder above the zoom folders, or the archive file; absolute */
  readonly path: string
  /** the scan source that `path` must not lead out of; absolute */
  readonly root: string
  /** of the tiles' file names, as `TileSetProbe.extension` gave it */
  readonly extension: string
}

export type TileSetOpening = { readonly ok: true; readonly tileSet: TileSet } | NotOpened

/**
 * Opens a version for serving. Folders cost nothing; archives are opened and their directory or schema is read, without holding the event
 * loop but for SQLite's own reading of the schema. Rejects with `BrokenArchiveError` for an archive that cannot be served, and the disk's errors.
 */
export async function openTileSet(spec: TileSetSpec): Promise<TileSetOpening> {
  switch (spec.storage) {
    case 'xyz':
    case 'tms':
      return { ok: true, tileSet: openFolderTileSet(spec.storage, spec.root, spec.path, spec.extension) }
    case 'mbtiles':
      return openMbtiles(spec.root, spec.path)
    case 'pmtiles':
      return openPmtiles(spec.root, spec.path)
  }
}
