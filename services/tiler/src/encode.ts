import type { RealTileFormat } from '@gateway/contracts/tiling/protocol.js'
import sharp from 'sharp'
import { alphaKind, type Pixels } from './pixels.js'

// Tiles are encoded concurrently, so threads within one tile would only compete.
sharp.concurrency(1)
sharp.cache(false)

/** Quality at which a photograph shows no blocks when it is drawn at twice its size. */
const WEBP = { quality: 85, effort: 4 } as const
const AVIF = { quality: 60, effort: 2 } as const
/** A filter chosen for each line saves a third of the bytes of photographs and elevations. Level 6 saves 1 % more, for a third more time. */
export const PNG = { compressionLevel: 3, adaptiveFiltering: true } as const

/**
 * Encodes a tile for storage. Partly transparent tiles are stored without loss: they are merged with later sources, and
 * drawing the same source again must find exactly the pixels that it left.
 * @param isExact true to store opaque tiles without loss too
 */
export function encodeTile(pixels: Pixels, tileSize: number, format: RealTileFormat, isExact = false): Promise<Buffer> {
  const raw = { width: tileSize, height: tileSize, channels: 4 } as const
  const image = sharp(pixels.data, { raw })
  const opaque = pixels.alpha === 'opaque'
  const isLossy = opaque && !isExact
  if (opaque) image.removeAlpha()
  switch (format) {
    case 'webp':
      return image.webp(isLossy ? WEBP : { lossless: true, effort: 0 }).toBuffer()
    case 'avif':
      return image.avif(isLossy ? AVIF : { lossless: true, effort: 2 }).toBuffer()
    case 'png':
      return image.png(PNG).toBuffer()
  }
}

/** Returns the pixels of a stored tile. Rejects if the file is not an image of that size. */
export async function decodeTile(file: Buffer, tileSize: number): Promise<Pixels> {
  const image = sharp(file, { limitInputPixels: tileSize * tileSize })
    .toColourspace('srgb')
    .ensureAlpha()
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  if (info.width !== tileSize || info.height !== tileSize || info.channels !== 4)
    throw new Error('not a tile of this layer')
  return { data, alpha: alphaKind(data) }
}
