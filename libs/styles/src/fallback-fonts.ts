import { looksOf } from './fonts.js'
import type { Glyph } from './glyph-range.js'
import { ASCENT } from './outlines.js'
import { distanceField, type Segment } from './sdf.js'
import { overlaps } from './subset-fonts.js'
import type { SystemFont } from './system-fonts.js'

/**
 * Returns the gateway's own fonts that follow a stack, so that no label is lost: a Noto Sans that looks like the first font of the stack, then
 * Arabic, and finally the one with ideographs, which also has Latin letters.
 */
export function fallbackNames(font: string): readonly string[] {
  const { bold, italic } = looksOf(font)
  const best = bold ? 'Noto Sans Bold' : italic ? 'Noto Sans Italic' : 'Noto Sans Regular'
  const others = ['Arabic', 'SC'].map((script) => `Noto Sans ${script} ${bold ? 'Bold' : 'Regular'}`)
  return [...new Set([best, 'Noto Sans Regular', ...others])]
}

/** Characters that draw something: not the unassigned ones, those of private use, controls, and blanks. */
const VISIBLE = /^(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u

/** Returns the characters of a range that should draw something and have no glyph. */
export function missingFrom(glyphs: ReadonlyMap<number, Glyph>, first: number): readonly number[] {
  const ids = Array.from({ length: 256 }, (_, i) => first + i)
  return ids.filter((id) => !glyphs.has(id) && VISIBLE.test(String.fromCodePoint(id)))
}

/** Name of the step of making a range in which fonts of the system are read. */
export const SYSTEM = 'the fonts of the system'

/** Limit: fonts of the system that supply one range. */
const MAX_SYSTEM_FONTS = 8

/** Chooses fonts of the system for the missing characters, best first: those that look like `font`, and sans-serif before others. */
export function chooseSystemFonts(
  fonts: readonly SystemFont[],
  missing: readonly number[],
  font: string,
): readonly SystemFont[] {
  const { bold, italic } = looksOf(font)
  const rank = ({ name, isBold, isItalic }: SystemFont) =>
    (isItalic === italic ? 0 : 8) +
    (isBold === bold ? 0 : 4) +
    (/sans|gothic|hei/i.test(name) ? 0 : 2) +
    (/^noto/i.test(name) ? 0 : 1)
  const chosen: SystemFont[] = []
  let left = missing
  for (const candidate of [...fonts].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))) {
    if (left.length === 0 || chosen.length === MAX_SYSTEM_FONTS) break
    const rest = left.filter((id) => !overlaps(candidate.has, id, id))
    if (rest.length === left.length) continue
    chosen.push(candidate)
    left = rest
  }
  return chosen
}

/** Sides of the box for characters without a glyph, in pixels of an em of 24: left, bottom, right, top. */
const OUTER = [2, 0, 14, 17] as const
const LINE = 1.5

/** Returns the box that shows a character which no font has, as fonts do themselves. */
export function box(id: number): Glyph {
  const [left, bottom, right, top] = OUTER
  const outline = distanceField([
    ...rectangle(left, bottom, right, top),
    // The other direction makes a hole.
    ...rectangle(right - LINE, bottom + LINE, left + LINE, top - LINE),
  ])
  if (outline === null) throw new Error('the box is empty')
  return { id, ...outline, top: outline.top - ASCENT, advance: left + right }
}

function rectangle(x0: number, y0: number, x1: number, y1: number): readonly Segment[] {
  return [
    [x0, y0, x0, y1],
    [x0, y1, x1, y1],
    [x1, y1, x1, y0],
    [x1, y0, x0, y0],
  ]
}
