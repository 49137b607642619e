import { type Bounds, CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import { presentedSignature } from '@gateway/core/access/signed-url.js'
import type { NoTileAddress, TileAddress } from '@gateway/tilesets/address.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import { matrixSetOf, TILE_MATRIX_SETS, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import { SIGNATURE_WRONG } from '../auth/signed-urls.js'
import type { Edge } from '../edge.js'
import type { UsageName } from '../sync/catalog.js'
import { VECTOR_STYLE } from '../sync/drawn-styles.js'
import { answerRefusal, STARTING, STORE_DOWN } from './refusals.js'
import type { RequestContext } from './request-context.js'

/** The resource of a request that a signed URL may open. */
export interface Signable {
  /** Default: a basemap. The others are opened only by the signature of a style; `glyphs` have no code (''). */
  readonly opens?: 'vector' | 'style' | 'sprite' | 'glyphs'
  readonly code: string
  /** Label in the address; null if it has none. */
  readonly version: string | null
  /** Address of the tile, if one is requested. */
  readonly address?: TileAddress | NoTileAddress
  /** True for all tiles at once, which an address with bounds does not open. */
  readonly whole?: boolean
}

/**
 * The resource that a token with bounds would read: a tile, a document of a basemap, a response that is itself cut to the bounds, or something that
 * tells by itself whether it lies within an area.
 */
export type Reach = Signable | 'cut' | ((area: Bounds, token: AccessToken) => boolean)

export const OUTSIDE_AREA = refuse('outside_bounds', coded('token_outside'))
const OUTSIDE_BOUNDS = refuse('outside_bounds', coded('signature_outside'))

/** Stands in for the token in requests with a signed URL. */
export const BEARER: AccessToken = {
  id: '',
  prefix: '',
  scopes: new Set(['read']),
  basemaps: new Set(),
  vectors: new Set(),
  layers: new Set(),
  expiresAtMs: null,
  disabled: false,
  limits: null,
}

/**
 * Decides on a request without a token by the signature in its query: 401 if it was made for something else or has expired, 403 if its bounds
 * exclude the resource. An admitted request for a missing resource returns 404, as with a token. Sends refusals itself. Returns false if the
 * query has no signature.
 */
export function admitSigned(exchange: RequestContext, wanted: Signable, admitted: () => void): boolean {
  const { edge } = exchange
  const presented = presentedSignature(exchange.query)
  if (presented === null) return false
  const refuse = (refusal: Parameters<typeof answerRefusal>[1]) => {
    answerRefusal(exchange, refusal)
    return true
  }
  if (!edge.signed.ready) return refuse(edge.freshness.loaded ? STORE_DOWN : STARTING)
  // A key that was replaced immediately must end its addresses as fast as disabling ends a token.
  if (performance.now() > edge.freshness.leaseExpiresAt) return refuse(STORE_DOWN)
  if (presented !== 'malformed' && presented.style !== '') {
    // biome-ignore lint/plugin: calendar, by which addresses expire
    const opened = edge.signed.verifyStyle(presented, Date.now())
    if (!opened.ok) return refuse(opened)
    if (!isOfStyle(exchange, opened.style, wanted)) return refuse(SIGNATURE_WRONG)
    exchange.token = ''
    exchange.asked = accounted(exchange, wanted)
    admitted()
    return true
  }
  if (wanted.opens !== undefined) return refuse(SIGNATURE_WRONG)
  const version = wanted.version === CURRENT_VERSION ? null : wanted.version
  // biome-ignore lint/plugin: calendar, by which addresses expire
  const signature = edge.signed.verify(presented, wanted.code, version, Date.now())
  if (!signature.ok) return refuse(signature)
  if (signature.bounds !== null && !reaches(edge, signature.bounds, wanted, BEARER)) return refuse(OUTSIDE_BOUNDS)
  if (signature.bounds === null) edge.native.noteSignature(signature)
  exchange.token = ''
  exchange.area = signature.bounds
  if (edge.freshness.catalog.basemaps.has(wanted.code)) exchange.asked = `basemap:${wanted.code}`
  admitted()
  return true
}

/**
 * True if a style needs the resource. A style that is not served opens only its own address, which returns 404. The plain style of a vector, which
 * only the renderer has signed, opens the vector's tiles.
 */
function isOfStyle({ edge }: RequestContext, style: string, { opens, code, version, whole }: Signable): boolean {
  if (style.startsWith(VECTOR_STYLE))
    return opens === 'glyphs' || (opens === 'vector' && code === style.slice(VECTOR_STYLE.length))
  if (opens === 'style' && code === style) return true
  const known = edge.freshness.catalog.styles.get(style)
  if (!known?.served || whole) return false
  const { sources, sprites } = known.stored.dependencies
  if (opens === 'glyphs') return true
  if (opens === 'sprite') return code === style || sprites.includes(code)
  if (opens === 'style') return false
  const kind = opens ?? 'basemap'
  return sources.some(
    (source) => source.kind === kind && source.code === code && (source.version === null || source.version === version),
  )
}

function accounted({ edge }: RequestContext, { opens, code }: Signable): UsageName | null {
  const { basemaps, vectors } = edge.freshness.catalog
  if (opens === undefined) return basemaps.has(code) ? `basemap:${code}` : null
  return opens === 'vector' && vectors.has(code) ? `vector:${code}` : null
}

/** True if bounds, in degrees, admit the resource. They never admit an unspecified or a whole resource. */
export function reaches({ freshness }: Edge, bounds: Bounds, wanted: Reach | null, token: AccessToken): boolean {
  if (wanted === 'cut') return true
  if (typeof wanted === 'function') return wanted(bounds, token)
  if (wanted === null || wanted.whole) return false
  const { opens, code, version, address } = wanted
  // The file of a vector cannot be cut, unlike its tiles; styles, sprites and glyphs have no place.
  if (opens === 'vector' && address?.ok) return tileTouches(TILE_MATRIX_SETS.WebMercatorQuad, address, bounds)
  if (opens !== undefined) return opens !== 'vector' || address !== undefined
  const known = freshness.catalog.basemaps.get(code)?.versions.get(version ?? CURRENT_VERSION)
  // Invalid or missing tiles have no place, and are refused for that reason later.
  if (known === undefined || address?.ok === false) return true
  const set = matrixSetOf(known.stored)
  if (address === undefined) return commonBounds(bounds, known.stored.bounds ?? set.world) !== null
  return tileTouches(set, address, bounds)
}
