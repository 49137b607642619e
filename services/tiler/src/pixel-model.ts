import type { RealTileFormat } from '@gateway/contracts/tiling/protocol.js'
import { decodeTile, encodeTile } from './encode.js'
import { alphaKind, type Children, downsample, downsampleClasses, layOver, type Pixels } from './pixels.js'

/** How pixels of a layer are read from a warp, merged, downsampled and stored: as colours, or as elevations (heights.ts). */
export interface PixelModel {
  /** bytes per pixel in a warp's blocks: red, green, blue and alpha, or one 32-bit float */
  readonly samples: 1 | 4
  fromBlock(block: Buffer): Pixels
  merge(above: Pixels, below: Pixels): Pixels
  downsample(children: Children, tileSize: number): Pixels
  encode(pixels: Pixels, tileSize: number, format: RealTileFormat): Promise<Buffer>
  /** Rejects if the file is not a tile of that size. */
  decode(file: Buffer, tileSize: number): Promise<Pixels>
}

export const COLOURS: PixelModel = {
  samples: 4,
  fromBlock: withKind,
  merge: (above, below) => withKind(layOver(above.data, below.data)),
  downsample,
  encode: encodeTile,
  decode: decodeTile,
}

/** Colours that stand for classes: none is mixed, and none is changed by the compression. */
export const CLASSES: PixelModel = {
  ...COLOURS,
  downsample: downsampleClasses,
  encode: (pixels, tileSize, format) => encodeTile(pixels, tileSize, format, true),
}

function withKind(data: Buffer): Pixels {
  return { data, alpha: alphaKind(data) }
}
