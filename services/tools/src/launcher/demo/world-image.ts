import sharp from 'sharp'

/** A square image of the Web Mercator world, with three bytes (red, green, blue) per pixel. */
export interface WorldImage {
  readonly size: number
  readonly pixels: Buffer
}

const CHANNELS = 3

/**
 * Projects an equirectangular image of the whole world onto the Web Mercator square, with the width of the image: columns stay,
 * and each row is interpolated between the two rows next to its latitude.
 */
export async function projectWorld(file: string): Promise<WorldImage> {
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const size = info.width
  const rowBytes = size * CHANNELS
  const pixels = Buffer.allocUnsafe(size * rowBytes)
  for (let y = 0; y < size; y++) {
    const latitude = Math.atan(Math.sinh(Math.PI * (1 - (2 * (y + 0.5)) / size)))
    const sourceRow = (0.5 - latitude / Math.PI) * info.height - 0.5
    const upper = Math.min(Math.max(Math.floor(sourceRow), 0), info.height - 2)
    const weight = Math.min(Math.max(sourceRow - upper, 0), 1)
    const [above, below, target] = [upper * rowBytes, (upper + 1) * rowBytes, y * rowBytes]
    for (let i = 0; i < rowBytes; i++) {
      pixels[target + i] = data[above + i]! * (1 - weight) + data[below + i]! * weight + 0.5
    }
  }
  return { size, pixels }
}

/** Halves the size: each pixel is the mean of four. */
export function halve(image: WorldImage): WorldImage {
  const size = image.size / 2
  const pixels = Buffer.allocUnsafe(size * size * CHANNELS)
  const rowBytes = image.size * CHANNELS
  let target = 0
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const source = y * 2 * rowBytes + x * 2 * CHANNELS
      for (let c = source; c < source + CHANNELS; c++) {
        const sum =
          image.pixels[c]! +
          image.pixels[c + CHANNELS]! +
          image.pixels[c + rowBytes]! +
          image.pixels[c + rowBytes + CHANNELS]!
        pixels[target++] = (sum + 2) >> 2
      }
    }
  }
  return { size, pixels }
}

/** Returns a brighter and more colourful copy. */
export async function brighten({ size, pixels }: WorldImage): Promise<WorldImage> {
  const bright = sharp(pixels, { raw: { width: size, height: size, channels: CHANNELS } })
    .linear(1.3, 16)
    .modulate({ saturation: 1.2 })
  return { size, pixels: await bright.removeAlpha().raw().toBuffer() }
}

/** Returns the square of `tileSize` pixels at a column and row, as raw pixels. */
export function cut({ size, pixels }: WorldImage, column: number, row: number, tileSize: number): Buffer {
  const tile = Buffer.allocUnsafe(tileSize * tileSize * CHANNELS)
  for (let y = 0; y < tileSize; y++) {
    const start = ((row * tileSize + y) * size + column * tileSize) * CHANNELS
    pixels.copy(tile, y * tileSize * CHANNELS, start, start + tileSize * CHANNELS)
  }
  return tile
}
