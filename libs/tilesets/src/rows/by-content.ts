import sharp from 'sharp'
import { spread } from '../folder/listing.js'
import type { NumberOrder } from './with-row-order.js'

/** The position of a tile as stored, without flipping rows. */
export type StoredPlace = readonly [z: number, x: number, row: number]

/** A set of images in the form for the comparison. */
export interface StoredImages {
  /** ascending */
  readonly zooms: readonly number[]
  /** Returns some tiles of a zoom, at most `limit`, spread as evenly as is cheap. */
  some(z: number, limit: number): Promise<readonly StoredPlace[]>
  /** Returns null if there is no such tile, or it is too large. */
  read(place: StoredPlace): Promise<Uint8Array | null>
  /** true if the first number of a place may be a row instead of a column */
  readonly mayBeTransposed: boolean
}

/** Limits: compared pairs of zooms, and parents per pair; each parent has up to four tiles below it. */
const MAX_PAIRS = 4
const MAX_PARENTS = 3
/** Maximum number of pixels of a decoded image. */
const MAX_PIXELS = 2048 * 2048
/** Side of the compared images in pixels: a quarter of a parent, and the whole tile below it. */
const SIDE = 16
/** Mean squared difference, of values up to 255, below which both orders look alike. */
const LEAST_DIFFERENCE = 60
/** Number of parents that suffice if all of them show the order that is likely anyway. A surprising order needs all of them. */
const ENOUGH_PARENTS = 2
/** Factor by which one order must fit better in every conclusive parent, and the minimum number of conclusive tiles. */
const CLEARLY = 4
const MIN_TILES = 2

/**
 * Determines the order of a set's numbers from its images: a tile shows a quarter of the tile above it, the upper quarter if its row is even and rows
 * are counted from the north. Returns null if the images are inconclusive, because they are plain or drawn differently for each zoom. Rejects
 * with the errors of `read`.
 * @param likely the order by convention, declaration or bounds: to confirm it, fewer images are decoded. null: none
 */
export async function orderByContent(images: StoredImages, likely: NumberOrder | null): Promise<NumberOrder | null> {
  const pairs = images.zooms.filter((z) => images.zooms.includes(z + 1))
  let possible: readonly NumberOrder[] = images.mayBeTransposed ? [...PLAIN, ...TRANSPOSED] : PLAIN
  let [tiles, parents] = [0, 0]
  for (const z of spread(pairs, MAX_PAIRS)) {
    for (const parent of await parentsAt(images, z)) {
      const found = await compareFamily(images, parent, possible)
      if (found === null) continue
      possible = found.possible
      tiles += found.tiles
      parents++
      const isConfirmed = possible.length === 1 && possible[0] === likely && tiles >= MIN_TILES
      if (isConfirmed && parents >= ENOUGH_PARENTS) return likely
    }
  }
  if (tiles < MIN_TILES) return null
  const [order, other] = possible
  // Tiles on the diagonal of a quarter look alike in both orders of numbers: then the usual one holds.
  const isOne = possible.length === 1 || (possible.length === 2 && other === MIRRORED[order as NumberOrder])
  return order !== undefined && isOne ? order : null
}

/** Returns parents with tiles below them. */
async function parentsAt(images: StoredImages, z: number): Promise<StoredPlace[]> {
  const below = await images.some(z + 1, MAX_PARENTS * 2)
  const parents = new Map(below.map(([, x, row]) => [`${x >> 1}/${row >> 1}`, [z, x >> 1, row >> 1] as const]))
  return spread([...parents.values()], MAX_PARENTS)
}

interface Compared {
  /** orders in which these tiles fit; none if they contradict those of other parents */
  readonly possible: readonly NumberOrder[]
  /** number of tiles that are conclusive */
  readonly tiles: number
}

const PLAIN = ['xyz', 'tms'] as const
const TRANSPOSED = ['zyx', 'zyx_tms'] as const
/** The other order of numbers with the same order of rows. */
const MIRRORED: Readonly<Record<NumberOrder, NumberOrder>> = { xyz: 'zyx', tms: 'zyx_tms', zyx: 'xyz', zyx_tms: 'tms' }

/** @param possible orders that are left. Returns null if these tiles say nothing. */
async function compareFamily(
  images: StoredImages,
  [z, x, row]: StoredPlace,
  possible: readonly NumberOrder[],
): Promise<Compared | null> {
  const parent = await pixelsOf(await images.read([z, x, row]), SIDE * 2)
  if (parent === null || isPlain(parent)) return null
  const errors: Record<NumberOrder, number> = { xyz: 0, tms: 0, zyx: 0, zyx_tms: 0 }
  let tiles = 0
  for (const [first, second] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const) {
    const child = await pixelsOf(await images.read([z + 1, 2 * x + first, 2 * row + second]), SIDE)
    if (child === null) continue
    const xyz = difference(child, quarter(parent, first, second))
    const tms = difference(child, quarter(parent, first, 1 - second))
    errors.xyz += xyz
    errors.tms += tms
    errors.zyx += difference(child, quarter(parent, second, first))
    errors.zyx_tms += difference(child, quarter(parent, second, 1 - first))
    if (Math.max(xyz, tms) > LEAST_DIFFERENCE) tiles++
  }
  const known = images.mayBeTransposed ? [...PLAIN, ...TRANSPOSED] : [...PLAIN]
  const best = Math.min(...known.map((order) => errors[order]))
  const fitting = known.filter((order) => errors[order] <= best * CLEARLY)
  if (tiles === 0 || fitting.length === known.length) return null
  return { possible: possible.filter((order) => fitting.includes(order)), tiles }
}

/** Returns colours multiplied by their opacity, so that invisible ones do not count. null: the image is missing, or cannot be decoded. */
async function pixelsOf(image: Uint8Array | null, side: number): Promise<Float32Array | null> {
  if (image === null) return null
  const decoded = await sharp(image, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    .ensureAlpha()
    .toColourspace('srgb')
    .resize(side, side, { fit: 'fill', kernel: 'linear' })
    .raw()
    .toBuffer()
    .catch(() => null)
  if (decoded === null || decoded.length !== side * side * 4) return null
  const pixels = new Float32Array(decoded.length)
  for (let i = 0; i < decoded.length; i += 4) {
    const opacity = decoded[i + 3]! / 255
    for (let channel = 0; channel < 3; channel++) pixels[i + channel] = decoded[i + channel]! * opacity
    pixels[i + 3] = decoded[i + 3]!
  }
  return pixels
}

/** True if all quarters look alike, so that the tiles below cannot show their order. */
function isPlain(parent: Float32Array): boolean {
  const first = quarter(parent, 0, 0)
  const others = [quarter(parent, 1, 0), quarter(parent, 0, 1), quarter(parent, 1, 1)]
  return others.every((other) => difference(first, other) === 0)
}

function quarter(parent: Float32Array, right: number, lower: number): Float32Array {
  const pixels = new Float32Array(SIDE * SIDE * 4)
  for (let y = 0; y < SIDE; y++) {
    const from = ((y + lower * SIDE) * SIDE * 2 + right * SIDE) * 4
    pixels.set(parent.subarray(from, from + SIDE * 4), y * SIDE * 4)
  }
  return pixels
}

/** Returns the mean squared difference of the values. */
function difference(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += (one[i]! - other[i]!) ** 2
  return sum / one.length
}
