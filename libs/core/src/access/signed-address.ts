import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'

/** What a signed address opens: a basemap with all of its versions, or one of them; with bounds its tiles there alone. */
export interface SignedResource {
  readonly code: string
  /** a version's own label; null: every version, the default one included */
  readonly version: string | null
  /** WGS 84 west, south, east, north; null: everywhere */
  readonly bounds: Bounds | null
}

/** The parameters of a signed address as they stand in its query, not yet verified. */
export interface PresentedSignature {
  /** seconds since 1970, in decimal */
  readonly exp: string
  /** HMAC-SHA-256 in base64url without padding */
  readonly sig: string
  /** `west,south,east,north`; '': there is none */
  readonly bounds: string
  /** percent-encoded code of the style that the signature opens, with all that it needs; '': it opens a basemap */
  readonly style: string
}

const NAMES = ['exp', 'sig', 'bounds', 'style'] as const
/** Limits of what is looked at: a signature of 32 bytes, a moment up to the year 2286, and four numbers of JavaScript. */
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/
const EXPIRY = /^[1-9][0-9]{0,9}$/
const BOUNDS = /^[0-9.,-]{7,120}$/
/** As `encodeURIComponent` writes a code. */
const STYLE = /^[A-Za-z0-9%_.!~*'()-]{1,1800}$/
/** The last moment that `exp` can say, in seconds since 1970. */
export const LAST_EXPIRY = 9_999_999_999

/**
 * The signature that a query presents. null: it has no `sig`; 'malformed': it has one that cannot be right. Nothing is decoded, and each
 * parameter may stand there once, so that a signed address has one spelling alone.
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

/** The parameters as they are written into an address. */
export function signatureQuery({ exp, sig, bounds, style }: PresentedSignature): string {
  return `${style === '' ? '' : `style=${style}&`}${bounds === '' ? '' : `bounds=${bounds}&`}exp=${exp}&sig=${sig}`
}

/** Signs what opens a style with all that it needs, until a moment in whole seconds since 1970, up to LAST_EXPIRY. */
export function signStyle(secret: Uint8Array, code: string, expiresAt: number): PresentedSignature {
  const presented = { exp: String(expiresAt), bounds: '', style: encodeURIComponent(code) }
  return { ...presented, sig: styleSignatureOf(secret, presented) }
}

/** The code of the style that a signature by this secret opens; null: none. Whether it has expired is not looked at. */
export function openedStyle(secret: Uint8Array, presented: PresentedSignature): string | null {
  if (presented.style === '') return null
  const isRight = timingSafeEqual(Buffer.from(presented.sig), Buffer.from(styleSignatureOf(secret, presented)))
  return isRight ? decodeURIComponent(presented.style) : null
}

/** What is signed begins as no address of tiles does, so that neither signature opens what the other does. */
function styleSignatureOf(secret: Uint8Array, { exp, style }: Pick<PresentedSignature, 'exp' | 'style'>): string {
  return createHmac('sha256', secret).update(`/styles/${style}/\n${exp}\n`).digest('base64url')
}

/** Signs what an address opens, until a moment in whole seconds since 1970, up to LAST_EXPIRY. */
export function signResource(secret: Uint8Array, { code, version, bounds }: SignedResource, expiresAt: number) {
  const presented = {
    exp: String(expiresAt),
    bounds: bounds === null ? '' : bounds.map(plainNumber).join(','),
    style: '',
  }
  return { ...presented, sig: signatureOf(secret, code, version, presented) }
}

/**
 * What a signature by this secret opens, found by trying: the whole basemap that was asked for, or the version of it. null: neither. Whether it
 * has expired is not looked at.
 * @param version the label in the address; null where it names the default one, which only the signature of a whole basemap opens
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
    // As text: other texts may be decoded to the same bytes.
    if (timingSafeEqual(given, Buffer.from(signatureOf(secret, code, candidate, presented))))
      return { code, version: candidate, bounds: boundsOf(presented) }
  }
  return null
}

/** What is signed: the prefix of the addresses of tiles, in its one encoded form, and the other parameters, each on a line of its own. */
function signatureOf(
  secret: Uint8Array,
  code: string,
  version: string | null,
  { exp, bounds }: Pick<PresentedSignature, 'exp' | 'bounds'>,
): string {
  const prefix = `/tiles/${encodeURIComponent(code)}/${version === null ? '' : `${encodeURIComponent(version)}/`}`
  return createHmac('sha256', secret).update(`${prefix}\n${exp}\n${bounds}`).digest('base64url')
}

/** A coordinate to a tenth of a metre, which JavaScript writes without an exponent. */
function plainNumber(degrees: number): string {
  return String(Number(degrees.toFixed(6)))
}

/** The bounds of a signature that was verified, so that they are as `signResource` has written them. null: it has none. */
export function boundsOf({ bounds }: PresentedSignature): Bounds | null {
  return bounds === '' ? null : (bounds.split(',').map(Number) as unknown as Bounds)
}
