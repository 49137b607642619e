/** A font that a style source has, or that the gateway brings. */
export interface FontFace {
  readonly name: string
  /** `ranges`: a folder of ready glyph ranges; `outlines`: a font file from which they are generated */
  readonly kind: 'ranges' | 'outlines'
  /** absolute */
  readonly path: string
  /** a directory out of which nothing is read */
  readonly root: string
  /** of the face in a collection (`.ttc`), by its PostScript name; null: the file has one */
  readonly face: string | null
  /** names the content */
  readonly fingerprint: string
}

/** Limits of a font stack in an address: fonts, and characters of all names. */
export const MAX_STACK_FONTS = 10
export const MAX_STACK_LENGTH = 500

/** The fonts of a stack; null: there is none, or there are too many. @param stack decoded */
export function parseFontStack(stack: string): readonly string[] | null {
  if (stack.length > MAX_STACK_LENGTH) return null
  const names = stack.split(',').map((name) => name.trim())
  return names.length > MAX_STACK_FONTS || names.some((name) => name === '') ? null : [...new Set(names)]
}

/** The first code point of a range such as `0-255`; null: it is none. Ranges begin at multiples of 256, up to 65535. */
export function parseGlyphRange(range: string): number | null {
  const match = /^(0|[1-9][0-9]{0,4})-([1-9][0-9]{2,4})$/.exec(range)
  if (match === null) return null
  const [first, last] = [Number(match[1]), Number(match[2])]
  return first % 256 === 0 && last === first + 255 && last <= 65_535 ? first : null
}

/** What a name says of weight and slant, for the choice of a font in its place. */
export function looksOf(name: string): { readonly bold: boolean; readonly italic: boolean } {
  const lower = name.toLowerCase()
  return { bold: /bold|black|heavy|semibold|medium/.test(lower), italic: /italic|oblique/.test(lower) }
}
