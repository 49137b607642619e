import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readBelow, whyNotRead } from '@gateway/core/files/read-below.js'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import type { Font } from 'fontkit'
import { box, chooseSystemFonts, missingFrom, SYSTEM } from './fallback-fonts.js'
import { type FontFace, MAX_FONT_BYTES } from './fonts.js'
import { type Glyph, MAX_RANGE_BYTES, mergeGlyphs, readGlyphRange, writeGlyphRange } from './glyph-range.js'
import { atWeight, generateRange, openOutlines } from './outlines.js'
import type { LeftOut } from './sprites.js'
import { subsetRange } from './subset-fonts.js'
import { findSystemFonts, type SystemFont } from './system-fonts.js'

/** Maximum number of ranges that one opened font generates. It keeps every outline that it has read: 600 MB for all ranges of a font with ideographs. */
const RANGES_PER_OPENING = 4

/** Limits of the fonts that stay open, which are those of one stack, whose ranges are requested in turn: their number, and bytes of their files. */
const MAX_OPEN = 6
const MAX_OPEN_BYTES = 64 * 1024 * 1024

const RANGE_GLYPHS = 256

const compress = promisify(gzip)

interface OpenFont {
  readonly file: Buffer
  readonly font: Font
  readonly ranges: number
}

/** In the order of use, with the most recent one last. */
const opened = new Map<string, OpenFont>()

/** A font of a stack. */
export interface RangeFont extends FontFace {
  /** file that keeps the range of this font; null: its ranges are files already */
  readonly kept: string | null
}

export interface RangeTask {
  readonly name: string
  readonly first: number
  readonly fonts: readonly RangeFont[]
  /** False if fonts of the system do not supply what is missing. */
  readonly withSystem?: boolean
}

/** The fonts of this system, which a process looks for once. */
let systemFonts: Promise<readonly SystemFont[]> | null = null

/**
 * Builds one range of a stack of fonts. Fonts that cannot be read are left out. Characters that no font has are boxes, whose code points are returned.
 * @param step called with the name of each font before it is read
 */
export async function buildRange({ name, first, fonts, withSystem = true }: RangeTask, step: (name: string) => void) {
  const leftOut: LeftOut[] = []
  let merged: ReadonlyMap<number, Glyph> = new Map()
  for (const font of fonts) {
    step(font.name)
    try {
      merged = mergeGlyphs([merged, await glyphsOf(font, first)])
    } catch (error) {
      leftOut.push({ name: font.name, reason: (error as Error).message.slice(0, 200) })
    }
    // Further fonts would add nothing.
    if (merged.size === RANGE_GLYPHS) break
  }
  if (withSystem && missingFrom(merged, first).length > 0) {
    step(SYSTEM)
    systemFonts ??= findSystemFonts()
    for (const font of chooseSystemFonts(await systemFonts, missingFrom(merged, first), name)) {
      try {
        merged = mergeGlyphs([merged, generateRange(await openFont(font), first)])
      } catch (error) {
        leftOut.push({ name: font.name, reason: (error as Error).message.slice(0, 200) })
      }
    }
  }
  const boxes = missingFrom(merged, first)
  merged = mergeGlyphs([merged, new Map(boxes.map((id) => [id, box(id)]))])
  const plain = writeGlyphRange(name, first, merged)
  return { ok: true as const, plain, packed: await compress(plain), leftOut, boxes }
}

async function glyphsOf(font: RangeFont, first: number): Promise<ReadonlyMap<number, Glyph>> {
  const { root, path, kept, name } = font
  if (kept === null) {
    const read = await readBelow(root, join(path, `${first}-${first + 255}.pbf`), MAX_RANGE_BYTES)
    if (read.ok) return readGlyphRange(read.content, first)
    if (read.reason === 'absent') return new Map()
    throw new Error(whyNotRead(read.reason, MAX_RANGE_BYTES))
  }
  const known = await readFile(kept).catch(() => null)
  if (known !== null) return readGlyphRange(known, first)
  const glyphs =
    font.kind === 'subsets' ? await subsetRange(path, font.weight, first) : generateRange(await openFont(font), first)
  // On a full disk it is generated again the next time.
  await writeFileAtomically(kept, writeGlyphRange(name, first, glyphs)).catch(() => {})
  return glyphs
}

async function openFont({ root, path, face, weight, fingerprint }: FontFace): Promise<Font> {
  const key = `${path}\0${face}\0${weight}\0${fingerprint}`
  const known = opened.get(key)
  const file = known?.file ?? (await readFont(root, path))
  const isWornOut = (known?.ranges ?? 0) >= RANGES_PER_OPENING
  const font = known === undefined || isWornOut ? atWeight(openOutlines(file, face), weight) : known.font
  opened.delete(key)
  opened.set(key, { file, font, ranges: known === undefined || isWornOut ? 1 : known.ranges + 1 })
  for (const [oldest] of opened) {
    const bytes = [...opened.values()].reduce((sum, one) => sum + one.file.length, 0)
    if (oldest === key || (opened.size <= MAX_OPEN && bytes <= MAX_OPEN_BYTES)) break
    opened.delete(oldest)
  }
  return font
}

/** Throws, with the reason, if the file cannot be read. */
export async function readFont(root: string, path: string): Promise<Buffer> {
  const read = await readBelow(root, path, MAX_FONT_BYTES)
  if (!read.ok) throw new Error(whyNotRead(read.reason, MAX_FONT_BYTES))
  return read.content
}
