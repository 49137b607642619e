import {
  GATEWAY_SCHEME,
  isAbsolute,
  isObject,
  mapFontFaces,
  parseGatewayAddress,
  pathInFolder,
  type StyleJson,
  spritesOf,
} from './style-json.js'

/** A source of a style that this gateway serves. */
export interface GatewaySource {
  /** name of the source in the style */
  readonly name: string
  readonly kind: 'basemap' | 'vector'
  readonly code: string
  /** null: the default version, or the resource is a vector */
  readonly version: string | null
}

export interface StyleDependencies {
  readonly sources: readonly GatewaySource[]
  /** fonts of all labels, each once */
  readonly fonts: readonly string[]
  /** icons and patterns with a constant name, including the prefix of their sprite; names computed from data are excluded */
  readonly icons: readonly string[]
  /** codes of other styles whose sprites are used */
  readonly sprites: readonly string[]
  /** paths of files below the style's folder: sprites without extension, data of sources */
  readonly files: readonly string[]
  /** hosts other than this gateway */
  readonly hosts: readonly string[]
}

/** Properties whose values name icons or patterns. */
const ICON_PROPERTIES: ReadonlySet<string> = new Set([
  'icon-image',
  'fill-pattern',
  'line-pattern',
  'background-pattern',
  'fill-extrusion-pattern',
])

/** Returns all dependencies of a valid style. */
export function dependenciesOf(style: StyleJson): StyleDependencies {
  const found = {
    fonts: new Set<string>(),
    icons: new Set<string>(),
    files: new Set<string>(),
    hosts: new Set<string>(),
  }
  const sources: GatewaySource[] = []
  const sprites = new Set<string>()
  const note = (address: string, name: string | null) => {
    const gateway = parseGatewayAddress(address)
    if (gateway?.kind === 'sprite') sprites.add(gateway.code)
    else if (gateway?.kind === 'basemap' && name !== null) sources.push({ ...gateway, name })
    else if (gateway?.kind === 'vector' && name !== null) sources.push({ ...gateway, name, version: null })
    else if (address.startsWith(GATEWAY_SCHEME)) return
    else if (!isAbsolute(address)) found.files.add(decodedPath(pathInFolder(address)))
    else if (/^(https?:)?\/\//i.test(address)) found.hosts.add(hostOf(address))
  }
  for (const { url } of spritesOf(style)) note(url, null)
  if (typeof style.glyphs === 'string' && isAbsolute(style.glyphs)) note(style.glyphs, null)
  mapFontFaces(style['font-faces'], (address) => {
    note(address, null)
    return address
  })
  for (const [name, source] of entriesOf(style.sources)) for (const address of addressesOf(source)) note(address, name)
  for (const layer of Array.isArray(style.layers) ? style.layers : []) {
    if (!isObject(layer)) continue
    for (const [property, value] of [...entriesOf(layer.layout), ...entriesOf(layer.paint)]) {
      if (property === 'text-font') for (const font of fontsIn(value)) found.fonts.add(font)
      if (ICON_PROPERTIES.has(property)) for (const icon of namesIn(value)) found.icons.add(icon)
    }
  }
  const sorted = (names: ReadonlySet<string>) => [...names].filter((name) => name !== '').sort()
  return {
    sources: unique(sources),
    fonts: sorted(found.fonts),
    icons: sorted(found.icons),
    sprites: sorted(sprites),
    files: sorted(found.files),
    hosts: sorted(found.hosts),
  }
}

/** Returns the URLs of one source, in all forms of source types. */
export function addressesOf(source: unknown): string[] {
  if (!isObject(source)) return []
  const { url, data, tiles, urls } = source
  const lists = [tiles, urls].flatMap((list) => (Array.isArray(list) ? list : []))
  return [url, data, ...lists].filter((address) => typeof address === 'string')
}

function unique(sources: readonly GatewaySource[]): GatewaySource[] {
  const byText = new Map(sources.map((source) => [JSON.stringify(source), source]))
  return [...byText.values()]
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}

function decodedPath(path: string): string {
  const [plain = ''] = path.split('?')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

function hostOf(address: string): string {
  try {
    return new URL(address, 'https://none/').host
  } catch {
    return ''
  }
}

/** Returns the fonts of a `text-font`: a list of names, or an expression or function with such lists. */
function fontsIn(value: unknown): string[] {
  if (Array.isArray(value) && value.every(isText)) return value
  if (isObject(value))
    return Array.isArray(value.stops) ? value.stops.flatMap((stop) => fontsIn((stop as unknown[])[1])) : []
  return literalsIn(value)
}

function literalsIn(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  if (value[0] === 'literal') return Array.isArray(value[1]) ? value[1].filter(isText) : []
  return value.flatMap(literalsIn)
}

/** Returns the possible names of a value, as far as they are constant. */
function namesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.includes('{') ? [] : [value]
  if (isObject(value))
    return Array.isArray(value.stops) ? value.stops.flatMap((stop) => namesIn((stop as unknown[])[1])) : []
  if (!Array.isArray(value)) return []
  const [operator, ...parts] = value as [unknown, ...unknown[]]
  switch (operator) {
    case 'image':
    case 'literal':
      return namesIn(parts[0])
    case 'coalesce':
      return parts.flatMap(namesIn)
    case 'step':
      return parts.filter((_, i) => i % 2 === 1).flatMap(namesIn)
    case 'case':
      return parts.filter((_, i) => i % 2 === 1 || i === parts.length - 1).flatMap(namesIn)
    case 'match':
      return parts.filter((_, i) => (i > 0 && i % 2 === 0) || i === parts.length - 1).flatMap(namesIn)
    default:
      return []
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
