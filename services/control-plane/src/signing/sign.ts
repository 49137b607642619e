import { type Bounds, CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { instantMs } from '@gateway/contracts/instant.js'
import { coded } from '@gateway/contracts/messages.js'
import type { SignedStyle, SignedUrl, SignedUrlBody } from '@gateway/contracts/signed-url.js'
import { LAST_EXPIRY, signatureQuery, signResource, signStyle } from '@gateway/core/access/signed-url.js'
import { isListed, isOffered, readBasemap } from '@gateway/store/basemaps.js'
import { readSigningSecret } from '@gateway/store/signing-keys.js'
import { readStyle } from '@gateway/store/styles.js'
import { commonParts } from '@gateway/tilesets/area.js'
import { currentTileUrlTemplate, revisedTileUrlTemplate } from '@gateway/tilesets/tilejson.js'
import type { ControlContext } from '../platform/context.js'
import { NO_SUCH_BASEMAP, NO_SUCH_STYLE } from '../platform/http/refusal.js'
import { expiryWarnings } from '../platform/warnings.js'

const NO_SUCH_VERSION = refuse('not_found', coded('version_not_of_this_basemap'))
const NOTHING_THERE = refuse('not_found', coded('basemap_nothing_available'))
const ALIAS = refuse('invalid_parameters', coded('signing_alias', { alias: CURRENT_VERSION }))
const YEARS = refuse('invalid_parameters', coded('signing_years'))
const TOO_LATE = refuse('invalid_parameters', coded('signing_too_late'))

const OUTSIDE_AREA = refuse('outside_bounds', coded('token_outside'))
const TWO_AREAS = refuse('invalid_parameters', coded('signing_two_areas'))

const ARCHIVES: ReadonlySet<string> = new Set(['pmtiles', 'mbtiles'])

/** A request for signed URLs of a basemap. */
type BasemapBody = SignedUrlBody & { readonly basemap_code: string }

/** `name`: the name of the basemap */
export type Signed = { readonly ok: true; readonly name: string; readonly signed: SignedUrl } | Refusal

/**
 * Returns URLs that admit their bearer until they expire. Nothing about them is stored: edges verify them only by the key, so they end with their
 * expiry or with the key.
 * @param notAfterMs expiry of the signing token, which no URL outlives; null: no expiry
 * @param area area that the token may read, which no URL exceeds; null: everywhere
 */
export async function signUrl(
  { sql, settings, now }: Pick<ControlContext, 'sql' | 'settings' | 'now'>,
  body: BasemapBody,
  notAfterMs: number | null,
  area: Bounds | null = null,
): Promise<Signed> {
  const { basemap_code: code, version: label = null } = body
  if (label === CURRENT_VERSION) return ALIAS
  const checked = expiryOf(body, notAfterMs)
  if (!checked.ok) return checked
  const { expiresAt } = checked
  const parts = area === null ? [body.bounds ?? null] : commonParts(area, body.bounds ?? area).map(roundedInwards)
  const [bounds] = parts
  if (bounds === undefined) return OUTSIDE_AREA
  if (parts.length > 1) return TWO_AREAS
  const basemap = code.includes('\0') ? null : await readBasemap(sql, code)
  if (basemap === null || !isListed(basemap)) return NO_SUCH_BASEMAP
  const served = basemap.versions.filter((one) => one.available && !one.withdrawn)
  const version = served.find((one) => one.version === (label ?? basemap.defaultVersion))
  if (version === undefined) return label === null ? NOTHING_THERE : NO_SUCH_VERSION
  const signature = signatureQuery(
    signResource(await readSigningSecret(sql), { code, version: label, bounds }, expiresAt),
  )
  const base = settings.tilePublicBaseUrl
  const place = `${encodeURIComponent(code)}/${label === null ? '' : `${encodeURIComponent(label)}/`}`
  const template =
    label === null
      ? `${currentTileUrlTemplate(base, code, version.format)}?`
      : `${revisedTileUrlTemplate(base, code, version)}&`
  const archive = `${base}/archives/${encodeURIComponent(code)}/${encodeURIComponent(version.version)}.${version.storage}`
  const expiry = new Date(expiresAt * 1000).toISOString()
  const warnings = expiryWarnings('expires_at', expiry, now())
  return {
    ok: true,
    name: basemap.name,
    signed: {
      basemap_code: code,
      version: label,
      expires_at: expiry,
      bounds,
      url_template: `${template}${signature}`,
      tilejson_url: `${base}/tiles/${place}tilejson.json?${signature}`,
      archive_url: bounds === null && ARCHIVES.has(version.storage) ? `${archive}?${signature}` : null,
      ...(warnings.length > 0 && { warnings }),
    },
  }
}

function expiryOf({ expires_at }: SignedUrlBody, notAfterMs: number | null) {
  const expiresAt = Math.floor((instantMs(expires_at) ?? Number.NaN) / 1000)
  if (!(expiresAt > 0 && expiresAt <= LAST_EXPIRY)) return YEARS
  if (notAfterMs !== null && expiresAt * 1000 > notAfterMs) return TOO_LATE
  return { ok: true, expiresAt } as const
}

export type StyleSigned = { readonly ok: true; readonly name: string; readonly signed: SignedStyle } | Refusal

/** Returns the URL of a style, which also opens all its resources. @param notAfterMs see `signUrl` */
export async function signStyleUrl(
  { sql, settings, now }: Pick<ControlContext, 'sql' | 'settings' | 'now'>,
  body: SignedUrlBody & { readonly style_code: string },
  notAfterMs: number | null,
): Promise<StyleSigned> {
  const checked = expiryOf(body, notAfterMs)
  if (!checked.ok) return checked
  const { style_code: code } = body
  const style = code.includes('\0') ? null : await readStyle(sql, code)
  if (style === null || !style.available || !isOffered(style)) return NO_SUCH_STYLE
  const signature = signatureQuery(signStyle(await readSigningSecret(sql), code, checked.expiresAt))
  const address = `${settings.tilePublicBaseUrl}/styles/${encodeURIComponent(code)}/style.json?${signature}`
  const expiry = new Date(checked.expiresAt * 1000).toISOString()
  const warnings = expiryWarnings('expires_at', expiry, now())
  const signed = { style_code: code, expires_at: expiry, style_url: address, url_template: address }
  return { ok: true, name: style.name, signed: { ...signed, ...(warnings.length > 0 && { warnings }) } }
}

/** Rounds bounds to the six decimals of a signature, inwards, so that they do not exceed the given area. */
function roundedInwards([west, south, east, north]: Bounds): Bounds {
  return [roundedUp(west), roundedUp(south), -roundedUp(-east), -roundedUp(-north)]
}

function roundedUp(degrees: number): number {
  const rounded = Number(degrees.toFixed(6))
  return rounded >= degrees ? rounded : Number((rounded + 1e-6).toFixed(6))
}
