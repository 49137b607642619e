import sharp from 'sharp'
import type { DrawnLayer, MapAnswer, MapTask, TileFault } from './map-pool.js'
import { HALF_STEP, STEPS } from './plan.js'
import { positionsOf } from './positions.js'

/** Rows of a picture that are drawn before tiles are decoded again: the decoded tiles of one band are in memory. */
const BAND = 64
/** Limit: pixels of a decoded tile. Tiles have at most 4,096 pixels on a side. */
const MAX_TILE_PIXELS = 4096 * 4096
const JPEG_QUALITY = 90
const WEBP_QUALITY = 90
/** Of 9: a third of the time of the default, for pictures that are a tenth larger. */
const PNG_COMPRESSION = 3
/** The value of a sample where there is no tile. */
const MISSING = -1

// Several tiles are decoded at once, so further threads for each do not help; the cache would keep them.
sharp.concurrency(1)
sharp.cache(false)

/** Draws the layers one over the other, the first at the bottom. @param step called with the name of each tile before it is decoded */
export async function composeMap(task: MapTask, step: (name?: string) => void): Promise<MapAnswer> {
  const { picture, background, transparent } = task
  const { width, height } = picture
  const empty = transparent ? 0 : (0xff000000 | swapped(background)) >>> 0
  const pixels = new Uint32Array(width * height).fill(empty)
  const faults: TileFault[] = []
  for (const [index, layer] of task.layers.entries()) await drawLayer(pixels, task, layer, index, faults, step)
  if (task.clip !== null) clip(pixels, width, task.clip, empty)
  step()
  return { bytes: await encode(pixels, task), faults }
}

/** Pixels are read as little-endian numbers. */
function swapped(rgb: number): number {
  return ((rgb & 0xff) << 16) | (rgb & 0xff00) | ((rgb >> 16) & 0xff)
}

async function drawLayer(
  pixels: Uint32Array,
  { picture }: MapTask,
  layer: DrawnLayer,
  index: number,
  faults: TileFault[],
  step: (name?: string) => void,
): Promise<void> {
  const { width, height } = picture
  const size = layer.grid.tileSize / layer.shrink
  const positions = positionsOf(picture, {
    ...layer.grid,
    cellSize: layer.grid.cellSize * layer.shrink,
    tileSize: size,
  })
  const waiting = new Map(layer.tiles.map((tile) => [`${tile.x}/${tile.y}`, tile]))
  const decoded = new DecodedTiles(size)
  const [u, v] = [new Float64Array(width), new Float64Array(width)]
  for (let top = 0; top < height && layer.tiles.length > 0; top += BAND) {
    const bottom = Math.min(height, top + BAND)
    const { first, last } = tileRows(positions, top, bottom, u, v, size)
    decoded.forget(first)
    const needed = [...waiting].filter(([, { y }]) => y >= first && y <= last)
    await Promise.all(
      needed.map(async ([key, { x, y, bytes }]) => {
        waiting.delete(key)
        step(`${index}/${key}`)
        try {
          decoded.add(x, y, await decode(bytes, size, layer.isNearest))
        } catch (error) {
          faults.push({ layer: index, x, y, reason: (error as Error).message })
        }
      }),
    )
    for (let row = top; row < bottom; row++) {
      positions.row(row, u, v)
      drawRow(pixels, row * width, u, v, decoded, layer.isNearest)
    }
    step()
  }
}

/** Returns the first and the last row of tiles that the rows of a picture need. */
function tileRows(
  positions: ReturnType<typeof positionsOf>,
  top: number,
  bottom: number,
  u: Float64Array,
  v: Float64Array,
  size: number,
): { first: number; last: number } {
  let [least, most] = [Infinity, -Infinity]
  for (let row = top; row < bottom; row++) {
    positions.row(row, u, v)
    for (const at of v) {
      if (at > -size && at < least) least = at
      if (at > most) most = at
    }
  }
  return { first: Math.floor(Math.floor(least) / size), last: Math.floor(Math.ceil(most) / size) }
}

class DecodedTiles {
  readonly size: number
  readonly #rows = new Map<number, Map<number, Uint32Array>>()
  #x = Number.NaN
  #y = Number.NaN
  #last: Uint32Array | undefined

  constructor(size: number) {
    this.size = size
  }

  add(x: number, y: number, pixels: Uint32Array): void {
    const row = this.#rows.get(y) ?? new Map()
    this.#rows.set(y, row.set(x, pixels))
    this.#x = Number.NaN
  }

  /** Forgets the rows of tiles above one. */
  forget(first: number): void {
    for (const y of this.#rows.keys()) if (y < first) this.#rows.delete(y)
  }

  /** Returns a pixel of the grid, or MISSING. */
  at(x: number, y: number): number {
    const { size } = this
    const [tx, ty] = [Math.floor(x / size), Math.floor(y / size)]
    if (tx !== this.#x || ty !== this.#y) {
      this.#x = tx
      this.#y = ty
      this.#last = this.#rows.get(ty)?.get(tx)
    }
    return this.#last === undefined ? MISSING : (this.#last[(y - ty * size) * size + x - tx * size] as number)
  }
}

function drawRow(
  pixels: Uint32Array,
  from: number,
  u: Float64Array,
  v: Float64Array,
  tiles: DecodedTiles,
  isNearest: boolean,
): void {
  const half = isNearest ? 0.5 : HALF_STEP
  for (let i = 0; i < u.length; i++) {
    const [x, y] = [(u[i] as number) + half, (v[i] as number) + half]
    const [x0, y0] = [Math.floor(x), Math.floor(y)]
    const fx = isNearest ? 0 : Math.floor((x - x0) * STEPS)
    const fy = isNearest ? 0 : Math.floor((y - y0) * STEPS)
    const found = fx === 0 && fy === 0 ? tiles.at(x0, y0) : mixed(tiles, x0, y0, fx, fy)
    if (found === MISSING) continue
    const alpha = found >>> 24
    if (alpha === 0) continue
    const below = pixels[from + i] as number
    pixels[from + i] = alpha === 255 || below >>> 24 === 0 ? found : over(found, below)
  }
}

/** Returns the bilinear mean of four pixels, with colours weighted by their opacity. Pixels without a tile have no weight. */
function mixed(tiles: DecodedTiles, x0: number, y0: number, fx: number, fy: number): number {
  let [r, g, b, a, known] = [0, 0, 0, 0, 0]
  for (let corner = 0; corner < 4; corner++) {
    const [right, lower] = [corner & 1, corner >> 1]
    const weight = (right === 1 ? fx : STEPS - fx) * (lower === 1 ? fy : STEPS - fy)
    if (weight === 0) continue
    const pixel = tiles.at(x0 + right, y0 + lower)
    if (pixel === MISSING) continue
    known += weight
    const part = weight * (pixel >>> 24)
    a += part
    r += part * (pixel & 0xff)
    g += part * ((pixel >> 8) & 0xff)
    b += part * ((pixel >> 16) & 0xff)
  }
  // The edge of the tiles goes through the middle between two pixels.
  if (known * 2 < STEPS * STEPS || a === 0) return MISSING
  return rgba(r / a, g / a, b / a, a / known)
}

/** Returns one pixel over another, neither of which is premultiplied. */
function over(upper: number, below: number): number {
  const a = (upper >>> 24) / 255
  const b = ((below >>> 24) / 255) * (1 - a)
  const alpha = a + b
  const channel = (shift: number) => (((upper >> shift) & 0xff) * a + ((below >> shift) & 0xff) * b) / alpha
  return rgba(channel(0), channel(8), channel(16), alpha * 255)
}

function rgba(r: number, g: number, b: number, a: number): number {
  return (Math.round(r) | (Math.round(g) << 8) | (Math.round(b) << 16) | (Math.round(a) << 24)) >>> 0
}

function clip(pixels: Uint32Array, width: number, boxes: NonNullable<MapTask['clip']>, empty: number): void {
  for (let i = 0, row = 0; i < pixels.length; i += width, row++) {
    let from = 0
    const parts = boxes.filter(({ top, bottom }) => row >= top && row < bottom).sort((a, b) => a.left - b.left)
    for (const { left, right } of parts) {
      if (left > from) pixels.fill(empty, i + from, i + left)
      from = Math.max(from, right)
    }
    if (from < width) pixels.fill(empty, i + from, i + width)
  }
}

/** Colours are those of the file: a profile would change them, and tiles of data have none. */
async function decode(bytes: Uint8Array, size: number, isNearest: boolean): Promise<Uint32Array> {
  const image = sharp(bytes, { ignoreIcc: true, failOn: 'truncated', limitInputPixels: MAX_TILE_PIXELS })
  const { width, height } = await image.metadata()
  const kernel = isNearest ? 'nearest' : 'linear'
  const sized = width === size && height === size ? image : image.resize(size, size, { fit: 'fill', kernel })
  const { data } = await sized
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  return new Uint32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
}

async function encode(pixels: Uint32Array, { picture, format, transparent }: MapTask): Promise<Uint8Array> {
  const { width, height } = picture
  const raw = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)
  const image = sharp(raw, { raw: { width, height, channels: 4 } })
  const flat = transparent ? image : image.removeAlpha()
  switch (format) {
    case 'png':
      return flat.png({ compressionLevel: PNG_COMPRESSION }).toBuffer()
    case 'webp':
      return flat.webp({ quality: WEBP_QUALITY, effort: 2 }).toBuffer()
    case 'jpg':
      return image.removeAlpha().jpeg({ quality: JPEG_QUALITY }).toBuffer()
  }
}
