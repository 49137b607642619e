import { readFileSync } from 'node:fs'
import type { Font } from 'fontkit'
import { writeGlyphRange } from './glyph-range.js'
import { generateRange, openOutlines } from './outlines.js'
import { buildSprite } from './sprites.js'

/** Work of a thread: a glyph range out of a font file, or a sprite out of drawings. */
export type AssetTask =
  | {
      readonly kind: 'glyphs'
      readonly path: string
      readonly face: string | null
      readonly name: string
      readonly first: number
    }
  | { readonly kind: 'sprite'; readonly folder: string; readonly names: readonly string[]; readonly ratio: 1 | 2 }

/** One part: the range. Two: the index and the image. */
export type AssetParts = readonly Uint8Array[]

/** Limit: ranges that one opened font generates. It keeps every outline that it has read: 600 MB for all ranges of a font with ideographs. */
const RANGES_PER_OPENING = 8

/** The font that was used last: ranges of one font follow each other, and a collection takes long to open. */
let opened: { readonly key: string; readonly file: Buffer; font: Font; ranges: number } | null = null

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
  if (opened?.key !== key) {
    const file = readFileSync(path)
    opened = { key, file, font: openOutlines(file, face), ranges: 0 }
  } else if (opened.ranges === RANGES_PER_OPENING) {
    opened.font = openOutlines(opened.file, face)
    opened.ranges = 0
  }
  opened.ranges++
  return opened.font
}
