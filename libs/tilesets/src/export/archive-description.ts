import type { PmtilesDescription } from '../pmtiles/writer.js'

/** What the writers of archives are told of a set in Web Mercator. */
export interface ArchiveDescription extends PmtilesDescription {
  /** pixels of a tile's side */
  readonly tileSize: number
}
