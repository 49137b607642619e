/** A tile to be written into an archive, with an XYZ address. */
export interface TileToWrite {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly data: Uint8Array
}
