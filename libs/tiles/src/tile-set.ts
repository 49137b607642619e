import type { Bounds, Storage, TileFormat, VectorLayer } from '@gateway/contracts/basemap.js'

/** How the stored bytes of a tile are compressed; HTTP's word for it goes into `Content-Encoding`. */
export type TileEncoding = 'identity' | 'gzip'

/**
 * Where one tile's bytes are. Nothing here has been read yet, except of `bytes`, which only a store without ranges (SQLite) answers.
 * `identity` names the content: it changes when the bytes may have changed, and is the stuff of an ETag.
 *
 * `file`: open it with `openBelow(root, path)`, which also says whether it exists; whether it is gzip, its first two bytes tell
 * (`encodingOf`). `range`: `fd` belongs to the tile set and is valid until that is closed.
 */
export type TileLocation =
  | { readonly kind: 'file'; readonly root: string; readonly path: string }
  | {
      readonly kind: 'range'
      readonly fd: number
      readonly offset: number
      readonly length: number
      readonly encoding: TileEncoding
      readonly identity: string
      readonly modifiedMs: number
    }
  | {
      readonly kind: 'bytes'
      readonly data: Uint8Array
      readonly encoding: TileEncoding
      readonly identity: string
      readonly modifiedMs: number
    }

/** Reads a stretch of an open file whole, or answers null because that would mean to wait for a disk. */
export type ReadNow = (fd: number, offset: number, length: number) => Uint8Array | null

/** One opened version of a basemap. `z`, `x`, `y` are XYZ (row 0 in the north), whatever the storage's own scheme is. */
export interface TileSet {
  readonly storage: Storage
  /**
   * null: the set has no such tile. Synchronous; reads at most an archive's directory, by `read`; `not_now`: that could not read it. Only
   * MBTiles may wait for a disk here: SQLite reads by itself. Takes addresses within the pyramid (`isInPyramid`). Throws only where the
   * archive is broken (`BrokenArchiveError`) or the disk fails.
   */
  locate(z: number, x: number, y: number, read: ReadNow): TileLocation | null | 'not_now'
  /** `locate` that reads what must be read without holding the event loop, but for MBTiles. */
  locateLater(z: number, x: number, y: number): Promise<TileLocation | null>
  /** Gives the descriptor back. Nothing that `locate` answered before may be read after. */
  close(): void
}

/** What a version says of itself: from its metadata file or archive header, and where that is silent from its folders. */
export interface TileSetProbe {
  readonly storage: Storage
  readonly format: TileFormat
  /** pixels; 512 for vector tiles */
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  readonly name: string | null
  readonly attribution: string | null
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
  /** the file extension that the tiles on disk have (`jpeg` for format `jpg`, say); for archives, the format */
  readonly extension: string
  /** how the sampled tile is compressed */
  readonly encoding: TileEncoding
  /** changes when the set's content may have changed */
  readonly fingerprint: string
  /** what is wrong with the set without making it useless, in words for the operator */
  readonly warnings: readonly string[]
}
