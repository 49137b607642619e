import type { HeightEncoding, RealTileFormat } from '@gateway/contracts/tiling/protocol.js'
import sharp from 'sharp'
import { PNG } from './encode.js'
import type { PixelModel } from './pixel-model.js'
import type { AlphaKind, Children, Pixels } from './pixels.js'

/**
 * Elevations: tiles of 32-bit floats, NaN for unknown. They are merged and downsampled as elevations and encoded last, because the mean of two codes
 * is the code of neither elevation.
 */

/** GDAL's value for pixels without an elevation. No place on the earth is so deep, and a 32-bit float represents it exactly. */
export const NO_HEIGHT = -99999

/** Metres. Values beyond the earth's own range are undeclared fill values of the source. */
const LOWEST = -12_000
const HIGHEST = 32_767

/**
 * Alpha of pixels without an elevation, whose elevation is 0. It is not 0, because browsers premultiply, and a transparent pixel would reach a map client
 * as black, an abyss of 10,000 or 32,768 m. 254 premultiplies without loss, and still tells a later job that the pixel is empty.
 */
const NOTHING = 254

/** `code = (height + offset) * scale`, in 24 bits of red, green and blue. */
const ENCODINGS: Readonly<Record<HeightEncoding, { readonly offset: number; readonly scale: number }>> = {
  terrarium: { offset: 32_768, scale: 256 },
  mapbox: { offset: 10_000, scale: 10 },
}

export function heightModel(encoding: HeightEncoding): PixelModel {
  return {
    samples: 1,
    fromBlock: (block) => pixelsOf(knownHeights(block)),
    merge: (above, below) => pixelsOf(heightsOver(floatsOf(above.data), floatsOf(below.data))),
    downsample: downsampleHeights,
    encode: (pixels, tileSize, format) => encodeHeights(floatsOf(pixels.data), tileSize, format, encoding),
    decode: (file, tileSize) => decodeHeights(file, tileSize, encoding),
  }
}

/** The newer elevation wins if it is known. */
function heightsOver(above: Float32Array, below: Float32Array): Float32Array {
  return above.map((height, index) => (Number.isNaN(height) ? below[index]! : height))
}

function knownHeights(block: Buffer): Float32Array {
  return floatsOf(block).map((height) => (height >= LOWEST && height <= HIGHEST ? height : Number.NaN))
}

/** Every pixel is the mean of the known ones of 2×2. */
function downsampleHeights(children: Children, tileSize: number): Pixels {
  const result = new Float32Array(tileSize * tileSize).fill(Number.NaN)
  const half = tileSize / 2
  children.forEach((child, quadrant) => {
    if (!child) return
    const from = floatsOf(child.data)
    const start = (quadrant >> 1) * half * tileSize + (quadrant & 1) * half
    for (let y = 0; y < half; y++) {
      for (let x = 0; x < half; x++) {
        const at = 2 * y * tileSize + 2 * x
        result[start + y * tileSize + x] = meanOf(from, at, tileSize)
      }
    }
  })
  return pixelsOf(result)
}

function meanOf(heights: Float32Array, at: number, width: number): number {
  let sum = 0
  let count = 0
  for (const index of [at, at + 1, at + width, at + width + 1]) {
    const height = heights[index]!
    if (Number.isNaN(height)) continue
    sum += height
    count++
  }
  return count === 0 ? Number.NaN : sum / count
}

async function encodeHeights(
  heights: Float32Array,
  tileSize: number,
  format: RealTileFormat,
  encoding: HeightEncoding,
): Promise<Buffer> {
  const { offset, scale } = ENCODINGS[encoding]
  const data = Buffer.alloc(heights.length * 4)
  let whole = true
  heights.forEach((height, index) => {
    const known = !Number.isNaN(height)
    whole &&= known
    const code = Math.max(0, Math.min(0xffffff, Math.round(((known ? height : 0) + offset) * scale)))
    data.writeUInt32BE(code * 256 + (known ? 255 : NOTHING), index * 4)
  })
  const image = sharp(data, { raw: { width: tileSize, height: tileSize, channels: 4 } })
  if (whole) image.removeAlpha()
  return format === 'png'
    ? image.png(PNG).toBuffer()
    : image.webp({ lossless: true, exact: true, effort: 0 }).toBuffer()
}

async function decodeHeights(file: Buffer, tileSize: number, encoding: HeightEncoding): Promise<Pixels> {
  const { offset, scale } = ENCODINGS[encoding]
  const image = sharp(file, { limitInputPixels: tileSize * tileSize })
    .toColourspace('srgb')
    .ensureAlpha()
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  if (info.width !== tileSize || info.height !== tileSize || info.channels !== 4)
    throw new Error('not a tile of this layer')
  const heights = new Float32Array(tileSize * tileSize)
  for (let index = 0; index < heights.length; index++) {
    const pixel = data.readUInt32BE(index * 4)
    heights[index] = (pixel & 255) === 255 ? (pixel >>> 8) / scale - offset : Number.NaN
  }
  return pixelsOf(heights)
}

function pixelsOf(heights: Float32Array): Pixels {
  const data = Buffer.from(heights.buffer, heights.byteOffset, heights.byteLength)
  return { data, alpha: alphaOf(heights) }
}

function alphaOf(heights: Float32Array): AlphaKind {
  let known = 0
  for (const height of heights) if (!Number.isNaN(height)) known++
  return known === 0 ? 'empty' : known === heights.length ? 'opaque' : 'partial'
}

function floatsOf(data: Buffer): Float32Array {
  // A view needs an offset that is a multiple of its element's size.
  const aligned = data.byteOffset % 4 === 0 ? data : Buffer.from(Uint8Array.from(data).buffer)
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4)
}
