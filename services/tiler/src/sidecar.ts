import fs from 'node:fs'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { openWithin } from '@gateway/core/files/open-within.js'
import type { GeoTransform } from './footprint.js'

/**
 * Georeferencing next to an image, read here instead of by GDAL. GDAL would follow such files wherever they lead, and
 * would also take masks, overviews and pixels from them. Only the reference system and the six numbers of the transform are
 * used.
 */
export interface Georeferencing {
  readonly wkt: string | null
  readonly transform: GeoTransform | null
}

/** Maximum bytes of a sidecar file that is parsed. */
const MAX_SIDECAR_BYTES = 1024 * 1024

const close = promisify(fs.close)
const readFile = promisify(fs.readFile) as (fd: number) => Promise<Buffer>

/** Reads sidecars of an image that are, like the image, inside one of `roots`. Missing or malformed ones count as absent. */
export async function sidecarsOf(image: string, roots: readonly string[]): Promise<Georeferencing> {
  const pam = await read(`${image}.aux.xml`, roots)
  const stem = image.slice(0, image.length - extname(image).length)
  const wkt = (pam && textOf(pam, 'SRS')) || (await read(`${stem}.prj`, roots))
  const transform = (pam && numbersOf(textOf(pam, 'GeoTransform') ?? '', ',')) || (await worldFile(image, stem, roots))
  return { wkt: wkt ? wkt.trim() : null, transform: transform ? (transform as unknown as GeoTransform) : null }
}

/** Reads a world file by its usual names: `.tfw` for `.tif`, `.tifw`, and `.wld`. */
async function worldFile(image: string, stem: string, roots: readonly string[]): Promise<number[] | null> {
  const extension = extname(image).slice(1)
  const short = extension.length >= 3 ? `${extension[0]}${extension.at(-1)}w` : `${extension}w`
  for (const name of [`${stem}.${short}`, `${image}w`, `${stem}.wld`, `${stem}.${short.toUpperCase()}`]) {
    const numbers = numbersOf((await read(name, roots)) ?? '', /\s+/)
    if (!numbers) continue
    const [a, d, b, e, c, f] = numbers as [number, number, number, number, number, number]
    // A world file states the centre of the first pixel, GDAL its corner.
    return [c - a / 2 - b / 2, a, b, f - d / 2 - e / 2, d, e]
  }
  return null
}

function numbersOf(text: string, separator: string | RegExp): number[] | null {
  const words = text.trim().split(separator)
  if (words.length !== 6) return null
  const numbers = words.map((word) => Number(word.trim() || Number.NaN))
  return numbers.every(Number.isFinite) ? numbers : null
}

/** Returns the text of an element of a PAM file (GDAL's .aux.xml). */
function textOf(xml: string, element: string): string | null {
  const close = xml.indexOf(`</${element}>`)
  const open = xml.lastIndexOf('<', close - 1)
  const text = xml.indexOf('>', open) + 1
  if (close < 0 || text > close || xml.slice(open + 1, text - 1).split(/\s/, 1)[0] !== element) return null
  const entities: Record<string, string> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" }
  return xml.slice(text, close).replace(/&(quot|amp|lt|gt|apos);/g, (_, name: string) => entities[name]!)
}

async function read(path: string, roots: readonly string[]): Promise<string | null> {
  const opening = await openWithin(roots, path)
  if (!opening.ok) return null
  try {
    return opening.size > MAX_SIDECAR_BYTES ? null : (await readFile(opening.fd)).toString('utf8')
  } finally {
    await close(opening.fd)
  }
}
