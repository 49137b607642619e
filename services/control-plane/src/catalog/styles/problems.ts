import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { Queryable } from '@gateway/store/connect.js'
import { readServedFonts, readStylePartCodes, type StoredStyle } from '@gateway/store/styles.js'
import { SHIPPED_FONT_NAMES } from '@gateway/styles/shipped-fonts.js'
import { quoted } from '../scans/walk/found.js'

/** Available dependencies of styles. */
export interface AvailableParts {
  readonly basemaps: ReadonlySet<string>
  readonly vectors: ReadonlySet<string>
  readonly fonts: ReadonlySet<string>
  /** icons of each style's sprites */
  readonly icons: ReadonlyMap<string, readonly string[]>
}

export async function readAvailableParts(sql: Queryable): Promise<AvailableParts> {
  const { basemaps, vectors, icons } = await readStylePartCodes(sql)
  const fonts = new Set([...(await readServedFonts(sql)).map(({ name }) => name), ...SHIPPED_FONT_NAMES])
  return { basemaps: new Set(basemaps), vectors: new Set(vectors), fonts, icons: new Map(icons) }
}

/** Returns the missing dependencies of a style, in the order of sources, fonts and icons. */
export function styleProblems(
  { code, dependencies, assets }: Pick<StoredStyle, 'code' | 'dependencies' | 'assets'>,
  available: AvailableParts,
): CodedMessage[] {
  const style = quoted(code)
  const { sources, fonts, icons, sprites } = dependencies
  const missingSources = sources.filter((one) => !available[`${one.kind}s`].has(one.code))
  const missingFonts = fonts.filter((font) => !available.fonts.has(font))
  const missingSprites = sprites.filter((other) => other !== code && !available.icons.has(other))
  const own = assets.sprites.flatMap((sprite) => sprite.icons)
  const known = new Set([...own, ...sprites.flatMap((other) => available.icons.get(other) ?? [])])
  // An icon of another host's sprite, or of one with a prefix, cannot be checked here.
  const judged = dependencies.hosts.length === 0 && (known.size > 0 || assets.sprites.length > 0)
  const missingIcons = judged ? icons.filter((icon) => !icon.includes(':') && !known.has(icon)) : []
  return [
    ...missingSources.map((one) =>
      coded('style_source_missing', { style, kind: one.kind, code: quoted(one.code), source: quoted(one.name) }),
    ),
    ...missingFonts.map((font) => coded('style_font_missing', { style, font: quoted(font), instead: 'Noto Sans' })),
    ...missingSprites.map((other) => coded('style_sprite_missing', { style, code: quoted(other) })),
    ...missingIcons.map((icon) => coded('style_icon_missing', { style, icon: quoted(icon) })),
  ]
}
