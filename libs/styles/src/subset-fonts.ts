import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Glyph } from './glyph-range.js'
import { atWeight, generateRange, openOutlines } from './outlines.js'

/** A WOFF2 file with some of the characters of a font. */
interface Subset {
  readonly file: string
  readonly ranges: CodePoints
}

/** First and last code points. */
export type CodePoints = readonly (readonly [first: number, last: number])[]

export const overlaps = (ranges: CodePoints, from: number, to: number): boolean =>
  ranges.some(([first, last]) => first <= to && last >= from)

/**
 * The glyphs of 256 code points of a variable font that is a package of Fontsource: about a hundred WOFF2 files, by the frequency of their
 * characters, whose ranges are in `unicode.json`. Throws if a file is missing or damaged.
 * @param folder of the package
 */
export async function subsetRange(
  folder: string,
  weight: number | undefined,
  first: number,
): Promise<Map<number, Glyph>> {
  const { default: decompress } = await import('woff2-encoder/decompress')
  const glyphs = new Map<number, Glyph>()
  for (const { file, ranges } of subsetsOf(folder)) {
    if (!overlaps(ranges, first, first + 255)) continue
    // fontkit reads WOFF2 as well, but without the variations.
    const font = openOutlines(Buffer.from(await decompress(readFileSync(file))), null)
    for (const [id, glyph] of generateRange(atWeight(font, weight), first)) glyphs.set(id, glyph)
  }
  return glyphs
}

const known = new Map<string, readonly Subset[]>()

function subsetsOf(folder: string): readonly Subset[] {
  const subsets = known.get(folder) ?? readSubsets(folder)
  known.set(folder, subsets)
  return subsets
}

function readSubsets(folder: string): readonly Subset[] {
  const index: Record<string, string> = JSON.parse(readFileSync(join(folder, 'unicode.json'), 'utf8'))
  return Object.entries(index).map(([key, text]) => ({
    // Subsets without a name have a number: `[4]`.
    file: join(folder, 'files', `${basename(folder)}-${key.replace(/^\[|\]$/g, '')}-wght-normal.woff2`),
    ranges: parseRanges(text.replaceAll('U+', ''), ','),
  }))
}

/** Parses hexadecimal ranges such as `20-7e,a9`. */
export function parseRanges(text: string, separator: string): CodePoints {
  const numbers = text.split(separator).map((range) => range.split('-').map((end) => Number.parseInt(end, 16)))
  return numbers.flatMap(([first = Number.NaN, last = first]) => (Number.isNaN(first + last) ? [] : [[first, last]]))
}
