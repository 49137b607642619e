/** A style document as parsed JSON. Only `validateStyle` proves more about it. */
export interface StyleJson {
  readonly [key: string]: unknown
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A `gateway://` URL inside a style. */
export type GatewayAddress =
  | { readonly kind: 'basemap'; readonly code: string; readonly version: string | null }
  | { readonly kind: 'vector'; readonly code: string }
  | { readonly kind: 'fonts' }
  | { readonly kind: 'sprite'; readonly code: string }

export const GATEWAY_SCHEME = 'gateway://'

/** Paths below `gateway://fonts`. The specification has a template in `glyphs`, so designers write one. */
const GLYPH_PATHS: ReadonlySet<string> = new Set(['', '{fontstack}/{range}', '{fontstack}/{range}.pbf'])

/** Returns the resource that a `gateway://` URL names, or null. Codes may be percent-encoded. */
export function parseGatewayAddress(address: string): GatewayAddress | null {
  if (!address.startsWith(GATEWAY_SCHEME)) return null
  const [place = '', ...rest] = address.slice(GATEWAY_SCHEME.length).split('/')
  const [code = '', version, ...more] = rest.map(decoded)
  if (more.length > 0 || rest.some((segment) => decoded(segment) === '')) return null
  if (place === 'fonts') return GLYPH_PATHS.has(rest.join('/')) ? { kind: 'fonts' } : null
  if (code === '') return null
  if (place === 'basemaps') return { kind: 'basemap', code, version: version ?? null }
  if (version !== undefined) return null
  if (place === 'vectors') return { kind: 'vector', code }
  return place === 'sprites' ? { kind: 'sprite', code } : null
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** True if a URL has its own scheme or host. `/path` has neither, and counts as relative too. */
export function isAbsolute(address: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(address) || address.startsWith('//')
}

/** Returns the path of a relative URL below the style's folder. Dots cannot lead out of it. Braces of templates stay. */
export function pathInFolder(address: string): string {
  const url = new URL(address, 'http://folder/')
  return `${url.pathname.slice(1)}${url.search}`.replaceAll('%7B', '{').replaceAll('%7D', '}')
}

export interface StyleSprite {
  /** `default`: its icons are named without a prefix */
  readonly id: string
  readonly url: string
}

/** Returns the sprites of a style, from either form of naming them. */
export function spritesOf({ sprite }: StyleJson): readonly StyleSprite[] {
  if (typeof sprite === 'string') return [{ id: 'default', url: sprite }]
  if (!Array.isArray(sprite)) return []
  return sprite.flatMap((one) =>
    isObject(one) && typeof one.id === 'string' && typeof one.url === 'string' ? [{ id: one.id, url: one.url }] : [],
  )
}

/** Replaces the file URLs in a style's `font-faces`, in both forms of the specification. */
export function mapFontFaces(faces: unknown, change: (address: string) => string): unknown {
  if (!isObject(faces)) return faces
  const one = (face: unknown): unknown => {
    if (typeof face === 'string') return change(face)
    if (Array.isArray(face)) return face.map(one)
    return isObject(face) && typeof face.url === 'string' ? { ...face, url: change(face.url) } : face
  }
  return Object.fromEntries(Object.entries(faces).map(([name, face]) => [name, one(face)]))
}

export interface StyleProblem {
  /** counted from 1; null: it does not concern a single line */
  readonly line: number | null
  readonly message: string
}
