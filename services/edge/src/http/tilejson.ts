import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { refuse } from '@gateway/contracts/errors.js'
import { offsetOf } from '@gateway/contracts/version-overrides.js'
import { tksIn } from '@gateway/core/access/presented-token.js'
import {
  boundsOf,
  type PresentedSignature,
  presentedSignature,
  signatureQuery,
} from '@gateway/core/access/signed-url.js'
import { versionTitle } from '@gateway/store/basemaps.js'
import type { TilePath } from '@gateway/tilesets/address.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import { isCutByFeatures } from '@gateway/tilesets/formats.js'
import { revisedTileUrlTemplate, tileJson } from '@gateway/tilesets/tilejson.js'
import { areaKey } from '../catalog/grant-key.js'
import { atIn, isUnfixed, labelAt } from './at-time.js'
import { answerDocument, SECRET_PLACE } from './document.js'
import { absentVersion } from './missing-reasons.js'
import { answerRefusal } from './refusals.js'
import type { RequestContext } from './request-context.js'
import { heldVersion } from './tile-answer.js'

/**
 * Sends the TileJSON of a version, or of the default one. Its tile addresses contain the version and its revision, so that a map has one content even
 * if the default changes or caches keep older tiles. A token in the query is copied into the tile addresses in the same form, since a client that
 * could not set a header for this request cannot set one for tiles either.
 */
export function answerTileJson(
  exchange: RequestContext,
  asked: Extract<TilePath, { kind: 'tilejson' }>,
  fromQuery: boolean,
) {
  const time = isUnfixed(asked.version) ? atIn(exchange.query) : null
  const then = time === null ? null : labelAt(exchange.edge, asked.code, time)
  if (then?.ok === false) return answerRefusal(exchange, then)
  const path = { ...asked, version: then?.label ?? asked.version }
  const { freshness, settings } = exchange.edge
  const basemap = freshness.catalog.basemaps.get(path.code)
  const version =
    basemap?.versions.get(path.version ?? CURRENT_VERSION) ?? heldVersion(basemap, path.version, exchange.reader)
  if (basemap === undefined || version === undefined) {
    return answerRefusal(
      exchange,
      refuse('not_found', absentVersion(path.code, path.version, basemap, exchange.token !== '')),
    )
  }
  exchange.asked = version.usage
  const { stored } = version
  const address = revisedTileUrlTemplate(settings.tilePublicBaseUrl, path.code, stored)
  const signature = fromQuery ? signatureOf(exchange.query) : null
  // The area that the signature opens, so that clients request no other tiles.
  const offset = offsetOf(stored)
  const { area } = exchange
  const known = area !== null && isCutByFeatures(stored.format) ? withoutNumbers(stored.metadata) : stored.metadata
  const metadata = offset === null ? known : { ...known, coordinate_offset: offset }
  const bounds =
    (signature === null ? null : boundsOf(signature)) ?? (area && commonBounds(area, stored.bounds)) ?? stored.bounds
  const described = { ...stored, name: versionTitle(basemap.stored, stored), bounds, metadata }
  answerDocument(exchange, {
    of: basemap,
    key: `tilejson ${stored.version}${areaKey(area)}`,
    grows: false,
    contentType: 'application/json; charset=utf-8',
    text: () => JSON.stringify(tileJson(described, [fromQuery ? `${address}&${SECRET_PLACE}` : address])),
    inserted: fromQuery ? tokenQuery(exchange.query) : '',
  })
}

/** Leaves out what may count or list the features outside of an area: all but texts, in fields that the gateway does not know. */
function withoutNumbers(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { version, center, ...other } = metadata
  const texts = Object.entries(other).filter(([, value]) => typeof value === 'string' && !/^\s*[\d[{]/.test(value))
  return { version, center, ...Object.fromEntries(texts) }
}

/** Returns the signature that admitted a request, or null if a token did, which takes precedence. */
function signatureOf(query: string): PresentedSignature | null {
  const parameters = new URLSearchParams(query)
  if (parameters.get('token') || parameters.get('access_token')) return null
  const signature = presentedSignature(query)
  return signature === 'malformed' ? null : signature
}

/** Returns the parameters that admitted a request, a token or those of a signed URL, for use in other addresses. */
export function tokenQuery(query: string, takesTk = false): string {
  const signature = takesTk ? null : signatureOf(query)
  if (signature !== null) return signatureQuery(signature)
  const parameters = new URLSearchParams(query)
  const name = parameters.get('token') ? 'token' : 'access_token'
  const value = parameters.get(name)
  return value ? `${name}=${encodeURIComponent(value)}` : `tk=${encodeURIComponent(tksIn(parameters)[0] ?? '')}`
}
