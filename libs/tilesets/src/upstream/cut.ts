import type { TileFormat } from '@gateway/contracts/basemap.js'
import { ServiceTrouble } from '@gateway/core/upstream/service-client.js'
import sharp, { type Sharp } from 'sharp'
import type { MadeTile } from '../kept/kept-tiles.js'
import { encodePng } from '../png.js'
import type { Square } from './addresses.js'

/** Of 9: two thirds of the time of level 6, for tiles that are 3 % larger. */
const PNG_COMPRESSION = 4

/** Cuts the picture of a square into its tiles, in threads of libvips. Rejects with `ServiceTrouble` if it has another size, or is damaged. */
export async function cutSquare(
  picture: Uint8Array,
  square: Square,
  tileSize: number,
  format: TileFormat,
): Promise<MadeTile[]> {
  const { z, x, y, columns, rows, left, top, width, height } = square
  const decoded = await sharp(picture, { failOn: 'truncated', limitInputPixels: width * height * 4 })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((error: Error) => {
      throw new ServiceTrouble('wrong', 'it returns a picture that cannot be read', { words: error.message })
    })
  const { info, data } = decoded
  if (info.width !== width || info.height !== height) {
    const said = `it returns a picture of ${info.width} x ${info.height} pixels in place of ${width} x ${height}`
    throw new ServiceTrouble('wrong', said)
  }
  const raw = { width, height, channels: info.channels }
  const places = Array.from({ length: columns * rows }, (_, i) => [i % columns, Math.floor(i / columns)] as const)
  return Promise.all(
    places.map(async ([column, row]) => {
      const part = { left: left + column * tileSize, top: top + row * tileSize, width: tileSize, height: tileSize }
      const bytes =
        format === 'jpg' || format === 'webp'
          ? await encode(sharp(data, { raw }).extract(part), format).toBuffer()
          : await encodePng({ data, stride: width, channels: info.channels, ...part }, PNG_COMPRESSION)
      return { place: { z, x: x + column, y: y + row }, bytes }
    }),
  )
}

function encode(image: Sharp, format: 'jpg' | 'webp'): Sharp {
  if (format === 'jpg') return image.flatten({ background: '#ffffff' }).jpeg({ quality: 90 })
  return image.webp({ quality: 90 })
}
