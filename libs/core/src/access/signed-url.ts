import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'

/** The resource that a signed URL opens: a basemap with all its versions, or one version. With bounds, only the tiles there. */
export interface SignedResource {
  readonly code: string
  /** label of a version; null: every version, the default one included */
  readonly version: string | null
  /** WGS 84 west, south, east, north; null: everywhere */
  readonly bounds: Bounds | null
}

/** The parameters of a signed URL as they stand in its query, not yet verified. */
export interface PresentedSignature {
  /** seconds since 1970, in decimal */
  readonly exp: string
  /** HMAC-SHA-256 in base64url without padding */
  readonly sig: string
  /** `west,south,east,north`; '' if absent */
  readonly bounds: string
  /** percent-encoded code of the style that the signature opens, with all that the style needs; '' if it opens a basemap */
  readonly style: string
}

const NAMES = ['exp', 'sig', 'bounds', 'style'] as const
/** Limits of accepted values: a signature of 32 bytes, a time up to the year 2286, and four numbers in JavaScript's form. */
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/
const EXPIRY = /^[1-9][0-9]{0,9}$/
const BOUNDS = /^[0-9.,-]{7,120}$/
/** A code in the form that `encodeURIComponent` writes. */
const STYLE = /^[A-Za-z0-9%_.!~*'()-]{1,1800}$/
/** Last time that `exp` can express, in seconds since 1970. */
export const LAST_EXPIRY = 9_999_999_999

/**
 * Reads the signature from a query. Returns null without `sig`, and 'malformed' for a signature that cannot be valid. Nothing is decoded, and
 * each parameter may occur once, so that a signed URL has only one spelling.
 * @param query raw, without the question mark
 */
export function presentedSignature(query: string): PresentedSignature | 'malformed' | null {
  if (!query.includes('sig=')) return null
  const found: Partial<Record<(typeof NAMES)[number], string>> = {}
  for (const parameter of query.split('&')) {
    const equals = parameter.indexOf('=')
    const name = NAMES.find((one) => one === parameter.slice(0, Math.max(0, equals)))
    if (name === undefined) continue
    if (found[name] !== undefined) return 'malformed'
    found[name] = parameter.slice(equals + 1)
  }
  const { exp = '', sig, bounds, style } = found
  if (sig === undefined) return null
  const isFormed =
    SIGNATURE.test(sig) &&
    EXPIRY.test(exp) &&
    (bounds === undefined || BOUNDS.test(bounds)) &&
    (style === undefined || (STYLE.test(style) && bounds === undefined))
  return isFormed ? { exp, sig, bounds: bounds ?? '', style: style ?? '' } : 'malformed'
}

/** Returns the parameters in the form in which addresses carry them. */
export function signatureQuery({ exp, sig, bounds, style }: PresentedSignature): string {
  return `${style === '' ? '' : `style=${style}&`}${bounds === '' ? '' : `bounds=${bounds}&`}exp=${exp}&sig=${sig}`
}

/** Signs a style with all that it needs. Expires at `expiresAt`, in whole seconds since 1970, at most LAST_EXPIRY. */
export function signStyle(secret: Uint8Array, code: string, expiresAt: number): PresentedSignature {
  const presented = { exp: String(expiresAt), bounds: '', style: encodeURIComponent(code) }
  return { ...presented, sig: styleSignatureOf(secret, presented) }
}

/** Returns the code of the style that a signature by this secret opens, or null. Does not check the expiry. */
export function openedStyle(secret: Uint8Array, presented: PresentedSignature): string | null {
  if (presented.style === '') return null
  const isRight = timingSafeEqual(Buffer.from(presented.sig), Buffer.from(styleSignatureOf(secret, presented)))
  return isRight ? decodeURIComponent(presented.style) : null
}

/** The signed text begins unlike any address of a tile, so that neither kind of signature opens the resource of the other. */
function styleSignatureOf(secret: Uint8Array, { exp, style }: Pick<PresentedSignature, 'exp' | 'style'>): string {
  return createHmac('sha256', secret).update(`/styles/${style}/\n${exp}\n`).digest('base64url')
}

/** Signs a resource. Expires at `expiresAt`, in whole seconds since 1970, at most LAST_EXPIRY. */
export function signResource(secret: Uint8Array, { code, version, bounds }: SignedResource, expiresAt: number) {
  const presented = {
    exp: String(expiresAt),
    bounds: bounds === null ? '' : bounds.map(plainNumber).join(','),
    style: '',
  }
  return { ...presented, sig: signatureOf(secret, code, version, presented) }
}

/**
 * Returns the resource that a signature by this secret opens, found by trial: the whole basemap, or the requested version of it. Returns null
 * if it opens neither. Does not check the expiry.
 * @param version label in the address; null if the address names the default version, which only the signature of a whole basemap opens
 */
export function openedBy(
  secret: Uint8Array,
  presented: PresentedSignature,
  code: string,
  version: string | null,
): SignedResource | null {
  if (presented.style !== '') return null
  const given = Buffer.from(presented.sig)
  for (const candidate of version === null ? [null] : [null, version]) {
    // Compared as text, because several texts may decode to the same bytes.
    if (timingSafeEqual(given, Buffer.from(signatureOf(secret, code, candidate, presented))))
      return { code, version: candidate, bounds: boundsOf(presented) }
  }
  return null
}

/** Computes the signature over the encoded prefix of the tile addresses and the other parameters, each on its own line. */
function signatureOf(
  secret: Uint8Array,
  code: string,
  version: string | null,
  { exp, bounds }: Pick<PresentedSignature, 'exp' | 'bounds'>,
): string {
  const prefix = `/tiles/${encodeURIComponent(code)}/${version === null ? '' : `${encodeURIComponent(version)}/`}`
  return createHmac('sha256', secret).update(`${prefix}\n${exp}\n${bounds}`).digest('base64url')
}

/** Rounds a coordinate to a tenth of a metre, so that JavaScript writes it without an exponent. */
function plainNumber(degrees: number): string {
  return String(Number(degrees.toFixed(6)))
}

/** Returns the bounds of a verified signature, which `signResource` wrote, or null if it has none. */
export function boundsOf({ bounds }: PresentedSignature): Bounds | null {
  return bounds === '' ? null : (bounds.split(',').map(Number) as unknown as Bounds)
}
