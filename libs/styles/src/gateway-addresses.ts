import { isObject, mapFontFaces, type StyleJson } from './style-json.js'

/** The bases of the gateway's URLs for parts of styles, without a trailing slash. */
export interface GatewayBases {
  readonly tileBase: string
  readonly vectorBase: string
}

/**
 * Replaces the URLs that `rewriteStyle` makes, and that an editor saves, by `gateway://` URLs, so that no token stays in the style. URLs
 * of files in the folder of the style `code` become relative, and those of other hosts stay.
 */
export function withGatewayAddresses(style: StyleJson, bases: GatewayBases, code: string): StyleJson {
  const change = (address: string) => gatewayAddress(address, bases, code)
  const changed: Record<string, unknown> = { ...style }
  const { sprite, glyphs, sources } = style
  if (typeof sprite === 'string') changed.sprite = change(sprite)
  else if (Array.isArray(sprite)) changed.sprite = sprite.map((one) => withAddresses(one, ['url'], change))
  if (typeof glyphs === 'string') changed.glyphs = change(glyphs)
  if (style['font-faces'] !== undefined) changed['font-faces'] = mapFontFaces(style['font-faces'], change)
  if (isObject(sources))
    changed.sources = Object.fromEntries(
      Object.entries(sources).map(([name, source]) => [
        name,
        withAddresses(source, ['url', 'data', 'tiles', 'urls'], change),
      ]),
    )
  return changed
}

function withAddresses(part: unknown, names: readonly string[], change: (address: string) => string): unknown {
  if (!isObject(part)) return part
  const changed: Record<string, unknown> = { ...part }
  for (const name of names) {
    const value = part[name]
    if (typeof value === 'string') changed[name] = change(value)
    else if (Array.isArray(value)) changed[name] = value.map((one) => (typeof one === 'string' ? change(one) : one))
  }
  return changed
}

/** Query parameters that carry credentials. */
const CREDENTIALS: ReadonlySet<string> = new Set(['token', 'access_token', 'tk', 'sig', 'exp', 'style', 'bounds', 'v'])

function gatewayAddress(address: string, { tileBase, vectorBase }: GatewayBases, code: string): string {
  const base = [tileBase, vectorBase].find((one) => address.startsWith(`${one}/`))
  if (base === undefined) return address
  const [path = '', query = ''] = address.slice(base.length + 1).split('?')
  const [room, name = '', ...rest] = path.split('/')
  const below = rest.join('/')
  if (room === 'fonts') return 'gateway://fonts'
  if (room === 'tiles' && below === 'tilejson.json') return `gateway://basemaps/${name}`
  if (room === 'tiles' && rest.length === 2 && rest[1] === 'tilejson.json')
    return `gateway://basemaps/${name}/${rest[0]}`
  if (room === 'vectors' && below === 'tilejson.json') return `gateway://vectors/${name}`
  if (room === 'vectors' && below === '' && name.endsWith('.geojson'))
    return `gateway://vectors/${name.slice(0, -'.geojson'.length)}`
  if (room === 'styles' && below === 'sprite') return `gateway://sprites/${name}`
  if (room === 'styles' && below !== '' && name === encodeURIComponent(code)) return below
  const kept = query.split('&').filter((part) => part !== '' && !CREDENTIALS.has(part.split('=')[0] as string))
  return `${base}/${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`
}
