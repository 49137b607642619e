/** A font of a style source, or one that the gateway ships. */
export interface FontFace {
  readonly name: string
  /** `ranges`: a folder of existing glyph ranges; `outlines`: a font file from which they are generated; `subsets`: a package (`subset-fonts.ts`) */
  readonly kind: 'ranges' | 'outlines' | 'subsets'
  /** absolute */
  readonly path: string
  /** directory; nothing outside of it is read */
  readonly root: string
  /** PostScript name of the face in a collection (`.ttc`); null: the file has one font */
  readonly face: string | null
  /** weight that a variable font is drawn with, as in CSS; absent: its default */
  readonly weight?: number
  /** identifies the content */
  readonly fingerprint: string
}

/** Limit: bytes of a font file, which is read as a whole. The largest collections with ideographs have 30 MB. */
export const MAX_FONT_BYTES = 128 * 1024 * 1024

/** Limits of a font stack in a URL: number of fonts, and characters of all names. */
export const MAX_STACK_FONTS = 10
export const MAX_STACK_LENGTH = 500

/** Parses a font stack; null: it is empty or has too many fonts. @param stack decoded */
export function parseFontStack(stack: string): readonly string[] | null {
  if (stack.length > MAX_STACK_LENGTH) return null
  const names = stack.split(',').map((name) => name.trim())
  return names.length > MAX_STACK_FONTS || names.some((name) => name === '') ? null : [...new Set(names)]
}

/** Returns the first code point of a range such as `0-255`, or null for other text. Ranges begin at multiples of 256, up to 65535. */
export function parseGlyphRange(range: string): number | null {
  const match = /^(0|[1-9][0-9]{0,4})-([1-9][0-9]{2,4})$/.exec(range)
  if (match === null) return null
  const [first, last] = [Number(match[1]), Number(match[2])]
  return first % 256 === 0 && last === first + 255 && last <= 65_535 ? first : null
}

/** Derives weight and slant from a font's name, to choose a replacement. */
export function looksOf(name: string): { readonly bold: boolean; readonly italic: boolean } {
  const lower = name.toLowerCase()
  return { bold: /bold|black|heavy|semibold|medium/.test(lower), italic: /italic|oblique/.test(lower) }
}
