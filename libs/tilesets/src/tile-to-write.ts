import type { PmtilesDescription } from './pmtiles/writer.js'

/** A tile to be written into an archive, with an XYZ address. */
export interface TileToWrite {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly data: Uint8Array
}

/** Description of a set in Web Mercator for the writers of archives. */
export interface ArchiveDescription extends PmtilesDescription {
  /** pixels of a tile's side */
  readonly tileSize: number
}
