import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import sharp from 'sharp'
import { encodePng, pngHead, pngOf } from '../png.js'
import type { DrawnLayer, MapAnswer, MapTask, TileFault } from './map-pool.js'
import { HALF_STEP, STEPS } from './plan.js'
import { positionsOf } from './positions.js'

/** Rows of a picture that are drawn before tiles are decoded again: the decoded tiles of one band are in memory. */
const BAND = 64
/** Limit: pixels of a decoded tile. Tiles have at most 4,096 pixels on a side. */
const MAX_TILE_PIXELS = 4096 * 4096
const JPEG_QUALITY = 90
const WEBP_QUALITY = 90
/** Of 9: two fifths of the time of the default, for pictures that are a tenth larger. */
const PNG_COMPRESSION = 3
/** Bytes of decoded tiles that are kept for later pictures: a map that is moved shows most of its tiles again. */
const DECODED_BYTES = 64 * 1024 * 1024
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
  const upright = positions.isUpright ? new UprightRows(width, layer.isNearest) : null
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
      if (upright?.draw(pixels, row * width, u, v[0] as number, decoded) !== true)
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

interface DecodedTile {
  readonly pixels: Uint32Array
  /** true if no pixel is transparent */
  readonly isOpaque: boolean
}

class DecodedTiles {
  readonly size: number
  readonly #rows = new Map<number, Map<number, DecodedTile>>()
  #x = Number.NaN
  #y = Number.NaN
  #last: Uint32Array | undefined

  constructor(size: number) {
    this.size = size
  }

  add(x: number, y: number, tile: DecodedTile): void {
    const row = this.#rows.get(y) ?? new Map()
    this.#rows.set(y, row.set(x, tile))
    this.#x = Number.NaN
  }

  /** Copies the pixels of a row of the grid from a column on. Returns false if one of them is transparent, or has no tile. */
  copyRow(y: number, from: number, into: Uint32Array): boolean {
    const { size } = this
    const tiles = this.#rows.get(Math.floor(y / size))
    const start = (y - Math.floor(y / size) * size) * size
    for (let at = 0; at < into.length; ) {
      const tx = Math.floor((from + at) / size)
      const column = from + at - tx * size
      const tile = tiles?.get(tx)
      if (tile?.isOpaque !== true) return false
      const count = Math.min(size - column, into.length - at)
      into.set(tile.pixels.subarray(start + column, start + column + count), at)
      at += count
    }
    return true
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
      this.#last = this.#rows.get(ty)?.get(tx)?.pixels
    }
    return this.#last === undefined ? MISSING : (this.#last[(y - ty * size) * size + x - tx * size] as number)
  }
}

/**
 * Draws rows of opaque tiles whose columns are those of the picture, as `drawRow` does, in a fraction of its time: on the grid rows are copied, and
 * between pixels the mean is computed without a look at each tile.
 */
class UprightRows {
  readonly #isNearest: boolean
  readonly #columns: Int32Array
  readonly #parts: Uint16Array
  #first = 0
  /** true if the columns follow one another, on the grid */
  #isOnGrid = false
  #upper = new Uint32Array(0)
  #lower = new Uint32Array(0)

  constructor(width: number, isNearest: boolean) {
    this.#isNearest = isNearest
    this.#columns = new Int32Array(width)
    this.#parts = new Uint16Array(width)
  }

  /** Returns false if the row has to be drawn otherwise. */
  draw(pixels: Uint32Array, from: number, u: Float64Array, v: number, tiles: DecodedTiles): boolean {
    if (this.#upper.length === 0 && !this.#setColumns(u)) return false
    const half = this.#isNearest ? 0.5 : HALF_STEP
    const y = Math.floor(v + half)
    const down = this.#isNearest ? 0 : Math.floor((v + half - y) * STEPS)
    const [upper, lower] = [this.#upper, this.#lower]
    if (!tiles.copyRow(y, this.#first, upper)) return false
    if (down > 0 && !tiles.copyRow(y + 1, this.#first, lower)) return false
    if (this.#isOnGrid && down === 0) pixels.set(upper.subarray(0, u.length), from)
    else this.#mix(pixels, from, down === 0 ? upper : lower, down)
    return true
  }

  #setColumns(u: Float64Array): boolean {
    const columns = this.#columns
    const half = this.#isNearest ? 0.5 : HALF_STEP
    const first = Math.floor((u[0] as number) + half)
    const last = Math.floor((u[u.length - 1] as number) + half)
    // A picture of half the world in few pixels would copy more than it draws.
    if (!(first >= 0 && last >= first && last - first < 4 * u.length)) return false
    let [isOnGrid, most] = [true, 0]
    for (let i = 0; i < u.length; i++) {
      const x = (u[i] as number) + half
      const column = Math.floor(x)
      columns[i] = column - first
      this.#parts[i] = this.#isNearest ? 0 : Math.floor((x - column) * STEPS)
      isOnGrid &&= columns[i] === i && this.#parts[i] === 0
      most = Math.max(most, column - first + (this.#parts[i] === 0 ? 0 : 1))
    }
    this.#first = first
    this.#isOnGrid = isOnGrid
    this.#upper = new Uint32Array(most + 1)
    this.#lower = new Uint32Array(most + 1)
    return true
  }

  /** The sums of `mixed` for four opaque pixels, rounded in the same way. */
  #mix(pixels: Uint32Array, from: number, lower: Uint32Array, down: number): void {
    const [columns, parts, upper] = [this.#columns, this.#parts, this.#upper]
    const half = (STEPS * STEPS) / 2
    for (let i = 0; i < columns.length; i++) {
      const x = columns[i] as number
      const right = parts[i] as number
      const next = right === 0 ? x : x + 1
      const [d, c] = [right * down, (STEPS - right) * down]
      const [b, a] = [right * (STEPS - down), (STEPS - right) * (STEPS - down)]
      const [p, q, r, s] = [upper[x] as number, upper[next] as number, lower[x] as number, lower[next] as number]
      const red = ((p & 255) * a + (q & 255) * b + (r & 255) * c + (s & 255) * d + half) >>> 16
      const green =
        (((p >>> 8) & 255) * a + ((q >>> 8) & 255) * b + ((r >>> 8) & 255) * c + ((s >>> 8) & 255) * d + half) >>> 16
      const blue =
        (((p >>> 16) & 255) * a + ((q >>> 16) & 255) * b + ((r >>> 16) & 255) * c + ((s >>> 16) & 255) * d + half) >>>
        16
      pixels[from + i] = (red | (green << 8) | (blue << 16) | 0xff000000) >>> 0
    }
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

const decodedBefore = new LRUCache<string, DecodedTile>({
  maxSize: DECODED_BYTES,
  sizeCalculation: ({ pixels }) => pixels.byteLength,
})

/** Colours are those of the file: a profile would change them, and tiles of data have none. */
async function decode(bytes: Uint8Array, size: number, isNearest: boolean): Promise<DecodedTile> {
  const key = `${createHash('sha1').update(bytes).digest('base64')} ${size} ${isNearest}`
  const known = decodedBefore.get(key)
  if (known !== undefined) return known
  const image = sharp(bytes, { ignoreIcc: true, failOn: 'truncated', limitInputPixels: MAX_TILE_PIXELS })
  const { width, height, hasAlpha } = pngHead(bytes) ?? (await image.metadata())
  const kernel = isNearest ? 'nearest' : 'linear'
  const sized = width === size && height === size ? image : image.resize(size, size, { fit: 'fill', kernel })
  const { data } = await sized
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const pixels = new Uint32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
  const tile = { pixels, isOpaque: !hasAlpha || pixels.every((pixel) => pixel >>> 24 === 255) }
  decodedBefore.set(key, tile)
  return tile
}

async function encode(pixels: Uint32Array, { picture, format, transparent }: MapTask): Promise<Uint8Array> {
  const { width, height } = picture
  const data = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)
  if (format === 'png') {
    if (!transparent) return pngOf(opaqueRows(pixels, width, height), { width, height, channels: 3 }, PNG_COMPRESSION)
    return encodePng({ data, stride: width, channels: 4, left: 0, top: 0, width, height }, PNG_COMPRESSION)
  }
  const image = sharp(data, { raw: { width, height, channels: 4 } })
  const flat = transparent ? image : image.removeAlpha()
  if (format === 'webp') return flat.webp({ quality: WEBP_QUALITY, effort: 2 }).toBuffer()
  return image.removeAlpha().jpeg({ quality: JPEG_QUALITY }).toBuffer()
}

/** The rows of a picture as PNG has them, without its opacity. */
function opaqueRows(pixels: Uint32Array, width: number, height: number): Uint8Array {
  const rows = Buffer.allocUnsafe((width * 3 + 1) * height)
  for (let row = 0, at = 0, i = 0; row < height; row++) {
    rows[at++] = 0
    for (const end = i + width; i < end; i++, at += 3) {
      const pixel = pixels[i] as number
      rows[at] = pixel
      rows[at + 1] = pixel >>> 8
      rows[at + 2] = pixel >>> 16
    }
  }
  return rows
}
