import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { Queryable } from '@gateway/store/connect.js'
import { readServedFonts, readStylePartCodes, type StoredStyle, type StoredStyleSource } from '@gateway/store/styles.js'
import { SHIPPED_FONT_NAMES } from '@gateway/styles/shipped-fonts.js'
import { isAbsolute, parseGatewayAddress, pathInFolder, type StyleJson, spritesOf } from '@gateway/styles/style-json.js'
import { quoted } from '../scans/walk/found.js'

/** Available dependencies of styles. */
export interface AvailableParts {
  /** with their versions */
  readonly basemaps: ReadonlyMap<string, readonly string[]>
  readonly vectors: ReadonlySet<string>
  readonly fonts: ReadonlySet<string>
  /** icons of each style's sprites */
  readonly icons: ReadonlyMap<string, readonly string[]>
}

export async function readAvailableParts(sql: Queryable): Promise<AvailableParts> {
  const { basemaps, vectors, icons } = await readStylePartCodes(sql)
  const fonts = new Set([...(await readServedFonts(sql)).map(({ name }) => name), ...SHIPPED_FONT_NAMES])
  return { basemaps: new Map(basemaps), vectors: new Set(vectors), fonts, icons: new Map(icons) }
}

type Needing = Pick<StoredStyle, 'code' | 'dependencies' | 'assets' | 'document'>

/** Reports the parts that a style needs and does not find, in the order of sources, fonts, sprites and icons. */
export function styleProblems(needing: Needing, available: AvailableParts): CodedMessage[] {
  const { code, dependencies } = needing
  const style = quoted(code)
  const missingSources = dependencies.sources.filter((one) => !isThere(one, available))
  const missingFonts = drawsOurGlyphs(needing) ? dependencies.fonts.filter((font) => !available.fonts.has(font)) : []
  const missingSprites = dependencies.sprites.filter((other) => other !== code && !available.icons.has(other))
  return [
    ...missingSources.map(({ name, kind, code: of, version }) => {
      const isKnown = version !== null && available.basemaps.has(of)
      return coded('style_source_missing', {
        style,
        kind,
        code: quoted(isKnown ? `${of}/${version}` : of),
        source: quoted(name),
      })
    }),
    ...missingFonts.map((font) => coded('style_font_missing', { style, font: quoted(font), instead: 'Noto Sans' })),
    ...missingSprites.map((other) => coded('style_sprite_missing', { style, code: quoted(other) })),
    ...missingIcons(needing, available).map((icon) => coded('style_icon_missing', { style, icon: quoted(icon) })),
  ]
}

/** False if the labels are drawn with the glyphs of another host, or with those of the client. */
function drawsOurGlyphs({ document }: Needing): boolean {
  const { glyphs } = JSON.parse(document) as StyleJson
  return typeof glyphs === 'string' && (!isAbsolute(glyphs) || parseGatewayAddress(glyphs)?.kind === 'fonts')
}

function isThere({ kind, code, version }: StoredStyleSource, { basemaps, vectors }: AvailableParts): boolean {
  if (kind === 'vector') return vectors.has(code)
  return version === null || version === CURRENT_VERSION ? basemaps.has(code) : !!basemaps.get(code)?.includes(version)
}

/** Icons that none of the style's sprites has. A sprite of another host, or one that is missing itself, may have any. */
function missingIcons({ code, dependencies, assets, document }: Needing, available: AvailableParts): readonly string[] {
  const own = assets.sprites
  const iconsOf = (url: string): readonly string[] | undefined => {
    const gateway = parseGatewayAddress(url)
    if (gateway?.kind === 'sprite')
      return gateway.code === code ? own.flatMap(({ icons }) => icons) : available.icons.get(gateway.code)
    if (isAbsolute(url)) return undefined
    const path = pathInFolder(url)
    return (own.find(({ name }) => name === path) ?? (path === 'sprite' ? own[0] : undefined))?.icons
  }
  const sprites = spritesOf(JSON.parse(document) as StyleJson).map(({ id, url }) => {
    const icons = iconsOf(url)
    // The icons of a sprite have its id before their names; those of the default one do not.
    const prefix = id === 'default' ? '' : `${id}:`
    return { prefix, names: icons === undefined ? null : new Set(icons.map((icon) => `${prefix}${icon}`)) }
  })
  return dependencies.icons.filter((icon) =>
    sprites.every(({ prefix, names }) => (names !== null ? !names.has(icon) : !icon.startsWith(prefix))),
  )
}
