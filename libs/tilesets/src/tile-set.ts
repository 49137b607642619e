import type { Bounds, TileFormat, TileMatrices, VectorLayer } from '@gateway/contracts/basemap.js'
import type { Overridable } from '@gateway/contracts/version-overrides.js'

/** The compression of a tile's stored bytes, named as in `Content-Encoding`. */
export type TileEncoding = 'identity' | 'gzip'

/** The facts about a version: from its metadata file or archive header, and for missing facts from its folders. */
export interface TileSetProbe extends Overridable {
  readonly description: string | null
  /** all formats of a set of several image formats, the most frequent one first; absent or null for others */
  readonly formats?: readonly TileFormat[] | null
  readonly vectorLayers: readonly VectorLayer[] | null
  /** the numbers of the set's own grid, which `tileMatrixSet` names; absent or null: the grid is a known one */
  readonly tileMatrices?: TileMatrices | null
  /** further fields of the metadata, for TileJSON */
  readonly metadata: Readonly<Record<string, unknown>>
  /** the file extension of the tiles on disk (for example `jpeg` for format `jpg`), or several (`fileExtensions`); for archives, the format */
  readonly extension: string
  /** compression of the sampled tile */
  readonly encoding: TileEncoding
  /** true if nothing confirms the row order that the set declares or that its format has: its pictures are compared then */
  readonly rowsAssumed: boolean
  /** extent of the tiles in either order of rows, as far as listing tells; absent: declared bounds are not checked */
  readonly extents?: Readonly<Record<'xyz' | 'tms', Bounds | null>>
  /** order that the metadata declares; absent or null: none */
  readonly rowsSaid?: 'xyz' | 'tms' | null
  /** order of rows with which the declared bounds contain the tiles of a folder, but only as `{z}/{y}/{x}` */
  readonly transposed?: 'xyz' | 'tms'
  /** changes when the set's content may have changed */
  readonly fingerprint: string
  /** faults that do not make the set useless, described for the operator */
  readonly warnings: readonly string[]
}
