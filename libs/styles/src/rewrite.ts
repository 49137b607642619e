import { isAbsolute, isObject, mapFontFaces, parseGatewayAddress, pathInFolder, type StyleJson } from './style-json.js'

/** The URLs of a style's parts for its caller. */
export interface StyleAddresses {
  readonly code: string
  /** bases without a trailing slash */
  readonly tileBase: string
  readonly vectorBase: string
  /** base of styles, sprites and fonts */
  readonly styleBase: string
  /** part of each URL's query, such as a token; '': none */
  readonly credential: string
  /** changes with the fonts; '': unknown, so that caches revalidate glyphs */
  readonly fontRevision: string
  /** time that selects versions of basemaps without a version; absent and null: now */
  readonly at?: string | null
}

/** Returns that time as a URL parameter; '' without one. */
export function atParameter(at: string | null): string {
  return at === null ? '' : `at=${encodeURIComponent(at)}`
}

/** Rewrites a style for its caller: URLs of this gateway and of the style's folder become absolute, those of other hosts stay. */
export function rewriteStyle(style: StyleJson, places: StyleAddresses): StyleJson {
  const rewritten: Record<string, unknown> = { ...style }
  const { sprite, glyphs, sources } = style
  const address = (text: string) => absolute(text, places)
  if (typeof sprite === 'string') rewritten.sprite = address(sprite)
  else if (Array.isArray(sprite))
    rewritten.sprite = sprite.map((one) =>
      isObject(one) && typeof one.url === 'string' ? { ...one, url: address(one.url) } : one,
    )
  if (typeof glyphs === 'string' && (!isAbsolute(glyphs) || parseGatewayAddress(glyphs)?.kind === 'fonts'))
    rewritten.glyphs = glyphTemplate(places)
  if (style['font-faces'] !== undefined) rewritten['font-faces'] = mapFontFaces(style['font-faces'], address)
  if (isObject(sources)) {
    const entries = Object.entries(sources).map(([name, source]) => [name, rewriteSource(source, places)])
    rewritten.sources = Object.fromEntries(entries)
  }
  return rewritten
}

/** Returns the URL template of glyphs, in the form of the style specification. */
export function glyphTemplate(places: Pick<StyleAddresses, 'styleBase' | 'credential' | 'fontRevision'>): string {
  return withQuery(`${places.styleBase}/fonts/{fontstack}/{range}.pbf`, [
    places.fontRevision === '' ? '' : `v=${places.fontRevision}`,
    places.credential,
  ])
}

function rewriteSource(source: unknown, places: StyleAddresses): unknown {
  if (!isObject(source)) return source
  const rewritten: Record<string, unknown> = { ...source }
  for (const property of ['url', 'data'] as const) {
    const value = source[property]
    if (typeof value === 'string') rewritten[property] = absolute(value, places, source.type)
  }
  const { tiles, urls } = source
  if (Array.isArray(urls)) rewritten.urls = urls.map((url) => (typeof url === 'string' ? absolute(url, places) : url))
  if (!Array.isArray(tiles)) return rewritten
  const named = tiles.find((tile) => typeof tile === 'string' && parseGatewayAddress(tile) !== null)
  if (typeof named !== 'string') {
    rewritten.tiles = tiles.map((tile) => (typeof tile === 'string' ? absolute(tile, places) : tile))
    return rewritten
  }
  // TileJSON contains the URLs of the tiles, with the version that is served now.
  const { tiles: _, ...others } = rewritten
  return { ...others, url: absolute(named, places, source.type) }
}

function absolute(address: string, places: StyleAddresses, type?: unknown): string {
  const { tileBase, vectorBase, styleBase, credential, code } = places
  const gateway = parseGatewayAddress(address)
  switch (gateway?.kind) {
    case 'basemap': {
      const version = gateway.version === null ? '' : `/${encodeURIComponent(gateway.version)}`
      const at = gateway.version === null ? atParameter(places.at ?? null) : ''
      return withQuery(`${tileBase}/tiles/${encodeURIComponent(gateway.code)}${version}/tilejson.json`, [
        at,
        credential,
      ])
    }
    case 'vector': {
      const vector = `${vectorBase}/vectors/${encodeURIComponent(gateway.code)}`
      return withQuery(type === 'geojson' ? `${vector}.geojson` : `${vector}/tilejson.json`, [credential])
    }
    case 'sprite':
      return withQuery(`${styleBase}/styles/${encodeURIComponent(gateway.code)}/sprite`, [credential])
    case 'fonts':
      return glyphTemplate(places)
  }
  if (isAbsolute(address)) return address
  return withQuery(`${styleBase}/styles/${encodeURIComponent(code)}/${pathInFolder(address)}`, [credential])
}

export function withQuery(address: string, parts: readonly string[]): string {
  const query = parts.filter((part) => part !== '').join('&')
  return query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`
}
