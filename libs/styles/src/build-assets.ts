import { readFileSync } from 'node:fs'
import type { Font } from 'fontkit'
import { writeGlyphRange } from './glyph-range.js'
import { generateRange, openOutlines } from './outlines.js'
import { buildSprite } from './sprites.js'

/** The work of a thread: a glyph range from a font file, or a sprite from drawings. */
export type AssetTask =
  | {
      readonly kind: 'glyphs'
      readonly path: string
      readonly face: string | null
      readonly name: string
      readonly first: number
    }
  | { readonly kind: 'sprite'; readonly folder: string; readonly names: readonly string[]; readonly ratio: 1 | 2 }

/** One part: the range. Two parts: the index and the image. */
export type AssetParts = readonly Uint8Array[]

/** Maximum number of ranges that one opened font generates. It keeps every outline that it has read: 600 MB for all ranges of a font with ideographs. */
const RANGES_PER_OPENING = 4

/** Maximum number of open fonts: those of one stack, whose ranges are requested in turn. */
const MAX_OPEN = 6

interface OpenFont {
  readonly file: Buffer
  readonly font: Font
  readonly ranges: number
}

/** In the order of use, with the most recent one last. */
const opened = new Map<string, OpenFont>()

export default async function buildAsset(task: AssetTask): Promise<AssetParts> {
  if (task.kind === 'sprite') {
    const { json, png } = await buildSprite(task.folder, task.names, task.ratio)
    return [json, png]
  }
  const { path, face, name, first } = task
  return [writeGlyphRange(name, first, generateRange(openFont(path, face), first))]
}

function openFont(path: string, face: string | null): Font {
  const key = `${path}\0${face}`
  const open = opened.get(key) ?? { file: readFileSync(path), font: null, ranges: 0 }
  const isWornOut = open.ranges >= RANGES_PER_OPENING
  const font = open.font === null || isWornOut ? openOutlines(open.file, face) : open.font
  opened.delete(key)
  opened.set(key, { file: open.file, font, ranges: isWornOut ? 1 : open.ranges + 1 })
  const [oldest = key] = opened.keys()
  if (opened.size > MAX_OPEN) opened.delete(oldest)
  return font
}
