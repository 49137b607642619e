import type { TileMatrices, VectorLayer } from '@gateway/contracts/basemap.js'
import type { Overridable } from '@gateway/contracts/version-overrides.js'

/** The compression of a tile's stored bytes, named as in `Content-Encoding`. */
export type TileEncoding = 'identity' | 'gzip'

/** The facts about a version: from its metadata file or archive header, and for missing facts from its folders. */
export interface TileSetProbe extends Overridable {
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
  /** the numbers of the set's own grid, which `tileMatrixSet` names; absent or null: the grid is a known one */
  readonly tileMatrices?: TileMatrices | null
  /** further fields of the metadata, for TileJSON */
  readonly metadata: Readonly<Record<string, unknown>>
  /** the file extension of the tiles on disk (for example `jpeg` for format `jpg`); for archives, the format */
  readonly extension: string
  /** compression of the sampled tile */
  readonly encoding: TileEncoding
  /** true if the row order is not declared: `storage` and `rowsFromNorth` then follow the convention */
  readonly rowsAssumed: boolean
  /** changes when the set's content may have changed */
  readonly fingerprint: string
  /** faults that do not make the set useless, described for the operator */
  readonly warnings: readonly string[]
}
