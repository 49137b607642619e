import { join } from 'node:path'
import { readBelow, whyNotRead } from '@gateway/core/files/read-below.js'
import sharp from 'sharp'

/** Limits: pixels of a drawing's side at 1x, and bytes of its file. */
const MAX_SIDE = 512
const MAX_BYTES = 1024 * 1024
/** Limit: pixels of all drawings at 1x, such as 4,096 icons of 32 x 32. At 2x the image has 64 MB before its compression. */
const MAX_AREA = 4 * 1024 * 1024
/** Pixels of the sprite's width. */
const WIDTH = 1024
const CHANNELS = 4

/** A drawing or font that is not used, and the reason. */
export interface LeftOut {
  readonly name: string
  readonly reason: string
}

/** Drawings of a sprite: the files `{name}.svg` of a folder below a root. */
export interface DrawingsTask {
  readonly root: string
  readonly folder: string
  readonly names: readonly string[]
}

interface Measured {
  readonly name: string
  readonly width: number
  readonly height: number
}

export type MeasuredDrawings =
  | { readonly ok: true; readonly drawings: readonly Measured[]; readonly leftOut: readonly LeftOut[] }
  | { readonly ok: false; readonly reason: string }

// A drawing is one tile, so further threads do not help; the cache would keep it.
sharp.concurrency(1)
sharp.cache(false)

/** Reads the sizes of drawings at 1x, without drawing them. @param step called with the name of each drawing before it is parsed */
export async function measureDrawings(task: DrawingsTask, step: (name: string) => void): Promise<MeasuredDrawings> {
  const drawings: Measured[] = []
  const leftOut: LeftOut[] = []
  let area = 0
  for (const name of task.names) {
    step(name)
    const size = await sizeOf(task, name)
    if (typeof size === 'string') leftOut.push({ name, reason: size })
    else {
      drawings.push({ name, ...size })
      area += size.width * size.height
    }
  }
  if (area <= MAX_AREA) return { ok: true, drawings, leftOut }
  return { ok: false, reason: `its drawings have ${area} pixels in all, and at most ${MAX_AREA} are drawn` }
}

async function sizeOf(task: DrawingsTask, name: string): Promise<string | { width: number; height: number }> {
  const svg = await readDrawing(task, name)
  if (typeof svg === 'string') return svg
  try {
    const { format, width = 0, height = 0 } = await sharp(svg, { limitInputPixels: false }).metadata()
    if (format !== 'svg') return 'it is not an SVG document'
    if (width > MAX_SIDE || height > MAX_SIDE) return `it is larger than ${MAX_SIDE} x ${MAX_SIDE}`
    return width === 0 || height === 0 ? 'it has no size' : { width, height }
  } catch (error) {
    return faultOf(error)
  }
}

async function readDrawing({ root, folder }: DrawingsTask, name: string): Promise<string | Buffer> {
  const read = await readBelow(root, join(folder, `${name}.svg`), MAX_BYTES)
  return read.ok ? read.content : whyNotRead(read.reason, MAX_BYTES)
}

export type BuiltSprite =
  | { readonly ok: true; readonly json: Uint8Array; readonly png: Uint8Array; readonly leftOut: readonly LeftOut[] }
  | { readonly ok: false; readonly reason: string }

/** Builds a sprite from SVG files, in the form of the style specification. Drawings that cannot be used are left out. */
export async function buildSprite(
  task: DrawingsTask & { readonly ratio: 1 | 2 },
  step: (name: string) => void,
): Promise<BuiltSprite> {
  const measured = await measureDrawings(task, step)
  if (!measured.ok) return measured
  const { ratio } = task
  const leftOut = [...measured.leftOut]
  const { places, width, height } = pack(measured.drawings, ratio)
  const canvas = Buffer.alloc(width * height * CHANNELS)
  const index: Record<string, object> = {}
  for (const place of places) {
    step(place.name)
    const pixels = await draw(task, place)
    if (typeof pixels === 'string') {
      leftOut.push({ name: place.name, reason: pixels })
      continue
    }
    const row = place.width * CHANNELS
    for (let y = 0; y < place.height; y++)
      pixels.copy(canvas, ((place.y + y) * width + place.x) * CHANNELS, y * row, (y + 1) * row)
    const { x, y } = place
    index[place.name] = { x, y, width: place.width, height: place.height, pixelRatio: ratio }
  }
  const raw = { width, height, channels: CHANNELS } as const
  const png = await sharp(canvas, { raw, limitInputPixels: false }).png().toBuffer()
  return { ok: true, json: Buffer.from(JSON.stringify(index)), png, leftOut }
}

interface Place extends Measured {
  readonly x: number
  readonly y: number
}

/** Packs drawings on shelves: the highest first, from left to right. */
function pack(drawings: readonly Measured[], ratio: number) {
  const sized = drawings.map(({ name, width, height }) => ({
    name,
    width: Math.max(1, Math.round(width * ratio)),
    height: Math.max(1, Math.round(height * ratio)),
  }))
  sized.sort((a, b) => b.height - a.height || (a.name < b.name ? -1 : 1))
  const places: Place[] = []
  let [x, y, shelf, width] = [0, 0, 0, 1]
  for (const one of sized) {
    if (x > 0 && x + one.width > WIDTH) {
      y += shelf
      x = 0
      shelf = 0
    }
    shelf = Math.max(shelf, one.height)
    places.push({ ...one, x, y })
    x += one.width
    width = Math.max(width, x)
  }
  return { places, width, height: Math.max(1, y + shelf) }
}

/** Returns the pixels of a drawing, or the reason why it cannot be drawn. */
async function draw(task: DrawingsTask & { readonly ratio: number }, place: Place): Promise<Buffer | string> {
  const { width, height, name } = place
  const svg = await readDrawing(task, name)
  if (typeof svg === 'string') return svg
  try {
    return await sharp(svg, { density: 72 * task.ratio })
      .resize({ width, height, fit: 'fill' })
      .ensureAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer()
  } catch (error) {
    return faultOf(error)
  }
}

function faultOf(error: unknown): string {
  return (error as Error).message.slice(0, 200)
}
