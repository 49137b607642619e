import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import type { TileEncoding } from './tile-set.js'

/** A tile to be written into an archive, with an XYZ address. */
export interface TileToWrite {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly data: Uint8Array
}

export interface PmtilesDescription {
  readonly format: TileFormat
  /** existing compression of all tile data */
  readonly encoding: TileEncoding
  readonly bounds: Bounds
  /** becomes the JSON metadata: name, attribution, description, vector_layers ... */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Description of a set in Web Mercator for the writers of archives. */
export interface ArchiveDescription extends PmtilesDescription {
  /** pixels of a tile's side */
  readonly tileSize: number
}
