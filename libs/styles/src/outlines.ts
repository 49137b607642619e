import { createRequire } from 'node:module'
import type { Font, FontCollection } from 'fontkit'
import type { Glyph } from './glyph-range.js'
import { distanceField, type Segment } from './sdf.js'

const require = createRequire(import.meta.url)

/** Pixels of an em in glyph ranges. */
const EM = 24
/**
 * Pixels from the line's top to the baseline, the same for all fonts, so that fonts in a stack share their baseline. MapLibre's own glyphs
 * have the same value within a pixel.
 */
export const ASCENT = 26
/** Limits: path commands of a glyph, and points on a curve. */
const MAX_COMMANDS = 20_000
const CURVE_POINTS = 6

/** Opens a font file. @param face PostScript name in a collection; null: the first. Throws if the file is not a font. */
export function openOutlines(file: Buffer, face: string | null): Font {
  // Loaded with the first font: it takes longer to load than a small scan does.
  const { create } = require('fontkit') as typeof import('fontkit')
  const opened = create(file) as Font | FontCollection
  if (!('fonts' in opened)) return opened
  const named = face === null ? null : opened.fonts.find(({ postscriptName }) => postscriptName === face)
  const font = named ?? opened.fonts[0]
  if (font === undefined) throw new Error('the collection has no font')
  return font
}

/** Returns a variable font with the given weight, and any other font unchanged. */
export function atWeight(font: Font, weight: number | undefined): Font {
  return weight === undefined || font.variationAxes.wght === undefined ? font : font.getVariation({ wght: weight })
}

/** Limit: characters that are tried before a font counts as one without outlines. The first ones of many fonts are blanks. */
const MAX_TRIED = 100
/** The first printable character, and the last one that ranges have. */
const FIRST_CHARACTER = 0x20
const LAST_CHARACTER = 0xffff
/** The last code point of Unicode. */
const LAST_CODE_POINT = 0x10ffff

/**
 * Why labels cannot be drawn from a font file; null: they can. Never throws, but a font may be made to take any time and memory, so it must run in a
 * process that may be killed.
 */
export function fontFault(file: Buffer): string | null {
  try {
    const font = openOutlines(file, null)
    if (!hasOrderedGroups(font)) return 'its character map is not valid'
    let tried = 0
    for (let id = FIRST_CHARACTER; id <= LAST_CHARACTER && tried < MAX_TRIED; id++) {
      if (!font.hasGlyphForCodePoint(id)) continue
      tried++
      if ((readGlyph(font, id)?.bitmap.length ?? 0) > 0) return null
    }
    return 'its glyphs have no outlines that can be read'
  } catch {
    return 'it is not a TrueType or OpenType font'
  }
}

/** The groups of a character map with 32 bits (OpenType, `cmap`, formats 12 and 13), as fontkit reads them. */
interface Groups {
  readonly length: number
  get(index: number): { readonly startCharCode: number; readonly endCharCode: number }
}

/** Tells whether the groups of a character map ascend within Unicode. Programs that expand others run out of memory. */
function hasOrderedGroups(font: Font): boolean {
  const { groups } = (font as unknown as { _cmapProcessor: { cmap: { groups?: Groups } } })._cmapProcessor.cmap
  let last = -1
  for (let i = 0; i < (groups?.length ?? 0); i++) {
    const { startCharCode, endCharCode } = (groups as Groups).get(i)
    if (startCharCode <= last || endCharCode < startCharCode || endCharCode > LAST_CODE_POINT) return false
    last = endCharCode
  }
  return true
}

/** The glyphs of 256 code points that a font has. A glyph that cannot be read is left out. */
export function generateRange(font: Font, first: number): Map<number, Glyph> {
  const glyphs = new Map<number, Glyph>()
  for (let id = first; id < first + 256; id++) {
    if (!font.hasGlyphForCodePoint(id)) continue
    const glyph = readGlyph(font, id)
    if (glyph !== null) glyphs.set(id, glyph)
  }
  return glyphs
}

function readGlyph(font: Font, id: number): Glyph | null {
  try {
    const scale = EM / font.unitsPerEm
    const outline = font.glyphForCodePoint(id)
    const advance = Math.max(0, Math.round(outline.advanceWidth * scale))
    const segments = flatten(outline.path.commands as readonly Command[], scale)
    const field = distanceField(segments)
    if (field === null) return { id, bitmap: new Uint8Array(0), width: 0, height: 0, left: 0, top: -ASCENT, advance }
    const { bitmap, width, height, left, top } = field
    return { id, bitmap, width, height, left, top: top - ASCENT, advance }
  } catch {
    return null
  }
}

interface Command {
  readonly command: 'moveTo' | 'lineTo' | 'quadraticCurveTo' | 'bezierCurveTo' | 'closePath'
  readonly args: readonly number[]
}

/** Converts the outline to straight segments, in pixels with y upwards. */
function flatten(commands: readonly Command[], scale: number): Segment[] {
  if (commands.length > MAX_COMMANDS) throw new Error('the outline is too long')
  const segments: Segment[] = []
  let [x, y, startX, startY] = [0, 0, 0, 0]
  const to = (nextX: number, nextY: number) => {
    if (nextX !== x || nextY !== y) segments.push([x, y, nextX, nextY])
    x = nextX
    y = nextY
  }
  for (const { command, args } of commands) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args.map((value) => value * scale)
    const [fromX, fromY] = [x, y]
    if (command === 'moveTo') {
      to(startX, startY)
      ;[x, y, startX, startY] = [a, b, a, b]
    } else if (command === 'lineTo') to(a, b)
    else if (command === 'closePath') to(startX, startY)
    else
      for (let i = 1; i <= CURVE_POINTS; i++) {
        const t = i / CURVE_POINTS
        const u = 1 - t
        if (command === 'quadraticCurveTo')
          to(u * u * fromX + 2 * u * t * a + t * t * c, u * u * fromY + 2 * u * t * b + t * t * d)
        else
          to(
            u * u * u * fromX + 3 * u * u * t * a + 3 * u * t * t * c + t * t * t * e,
            u * u * u * fromY + 3 * u * u * t * b + 3 * u * t * t * d + t * t * t * f,
          )
      }
  }
  to(startX, startY)
  return segments
}
