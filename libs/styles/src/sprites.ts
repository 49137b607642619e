import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp, { type OverlayOptions } from 'sharp'

export interface BuiltSprite {
  readonly json: Uint8Array
  readonly png: Uint8Array
}

/** Limits: pixels of an icon's side at 1x, bytes of a drawing, and pixels of the sprite's width. */
const MAX_SIDE = 512
const MAX_BYTES = 1024 * 1024
const WIDTH = 1024

interface Icon {
  readonly name: string
  readonly pixels: Buffer
  readonly width: number
  readonly height: number
}

/** Builds a sprite from the SVG files of a folder, in the form of the style specification. Unreadable drawings are omitted. */
export async function buildSprite(folder: string, names: readonly string[], ratio: 1 | 2): Promise<BuiltSprite> {
  const icons: Icon[] = []
  for (const name of names) {
    const icon = await draw(folder, name, ratio).catch(() => null)
    if (icon !== null) icons.push(icon)
  }
  // Packed on shelves: the highest icons first, from left to right.
  icons.sort((a, b) => b.height - a.height || (a.name < b.name ? -1 : 1))
  const index: Record<string, object> = {}
  const placed: OverlayOptions[] = []
  let [x, y, shelf, width] = [0, 0, 0, 1]
  for (const { name, pixels, width: w, height: h } of icons) {
    if (x > 0 && x + w > WIDTH) {
      y += shelf
      x = 0
      shelf = 0
    }
    shelf = Math.max(shelf, h)
    placed.push({ input: pixels, raw: { width: w, height: h, channels: 4 }, left: x, top: y })
    index[name] = { x, y, width: w, height: h, pixelRatio: ratio }
    x += w
    width = Math.max(width, x)
  }
  const create = {
    width,
    height: Math.max(1, y + shelf),
    channels: 4 as const,
    background: { r: 0, g: 0, b: 0, alpha: 0 },
  }
  const png = await sharp({ create, limitInputPixels: false }).composite(placed).png().toBuffer()
  return { json: Buffer.from(JSON.stringify(index)), png }
}

async function draw(folder: string, name: string, ratio: 1 | 2): Promise<Icon | null> {
  const svg = await readFile(join(folder, `${name}.svg`))
  if (svg.length > MAX_BYTES) return null
  const { width = 0, height = 0 } = await sharp(svg).metadata()
  if (width === 0 || height === 0 || width > MAX_SIDE || height > MAX_SIDE) return null
  const size = { width: Math.round(width * ratio), height: Math.round(height * ratio), fit: 'fill' as const }
  const { data, info } = await sharp(svg, { density: 72 * ratio })
    .resize(size)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { name, pixels: data, width: info.width, height: info.height }
}
