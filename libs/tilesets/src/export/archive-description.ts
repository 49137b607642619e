import type { PmtilesDescription } from '../pmtiles/writer.js'

/** Description of a set in Web Mercator for the writers of archives. */
export interface ArchiveDescription extends PmtilesDescription {
  /** pixels of a tile's side */
  readonly tileSize: number
}
