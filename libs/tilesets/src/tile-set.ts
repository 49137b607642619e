import type {
  Bounds,
  Storage,
  TileFormat,
  TileMatrices,
  TileMatrixSetId,
  VectorLayer,
} from '@gateway/contracts/basemap.js'

/** How the stored bytes of a tile are compressed; HTTP's word for it goes into `Content-Encoding`. */
export type TileEncoding = 'identity' | 'gzip'

/** What a version says of itself: from its metadata file or archive header, and where that is silent from its folders. */
export interface TileSetProbe {
  readonly storage: Storage
  /** rows of an MBTiles archive are counted from the north, against its specification */
  readonly rowsFromNorth: boolean
  readonly format: TileFormat
  /** pixels; 512 for vector tiles */
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  /** they were computed from the tiles, not read from metadata */
  readonly boundsDerived: boolean
  readonly name: string | null
  readonly attribution: string | null
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
  readonly tileMatrixSet: TileMatrixSetId
  /** the numbers of its own grid, which `tileMatrixSet` names; absent and null: it has none */
  readonly tileMatrices?: TileMatrices | null
  /** what the metadata says beyond these fields, for TileJSON */
  readonly metadata: Readonly<Record<string, unknown>>
  /** the file extension that the tiles on disk have (`jpeg` for format `jpg`, say); for archives, the format */
  readonly extension: string
  /** how the sampled tile is compressed */
  readonly encoding: TileEncoding
  /** nothing says how rows are counted: `storage` and `rowsFromNorth` are the convention's */
  readonly rowsAssumed: boolean
  /** changes when the set's content may have changed */
  readonly fingerprint: string
  /** what is wrong with the set without making it useless, in words for the operator */
  readonly warnings: readonly string[]
}
