import { PICTURE_FORMATS, type PictureFormat } from '@gateway/contracts/drawing.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { isInPyramid, type NoTileAddress, parseTileAddress, type TileAddress } from '@gateway/tilesets/address.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import { TILE_MATRIX_SETS, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import { tileJson } from '@gateway/tilesets/tilejson.js'
import { CORS, headerBlock } from '../answers/header-block.js'
import { areaKey } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { PICTURE_WAIT_MS, RETRY_SECONDS, type StaticPicture } from '../pictures/pictures.js'
import { boundsOfView } from '../pictures/square.js'
import {
  MOST_LABEL,
  MOST_MARKERS,
  MOST_PATHS,
  MOST_POINTS,
  parseStatic,
  type StaticFault,
  type StaticRequest,
} from '../pictures/static-request.js'
import { type DrawnStyle, drawnStyle, type PictureKind, pictureTiles, revisionOf } from '../sync/drawn-styles.js'
import { answerCondition } from './answer-condition.js'
import type { Ask } from './authorize.js'
import { answerDocument, SECRET_PLACE } from './document.js'
import { outsideGrid, outsideZooms } from './missing-reasons.js'
import { answerRefusal, INTERNAL, MALFORMED_TILE, NOTHING, wantsEmpty } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import { tokenQuery } from './tilejson.js'
import { answerFrom, notMade } from './tiles.js'

const FORMS = 'z/x/y.png, static/lon,lat,zoom/600x400.png and tilejson.json, as png, webp or jpg'
const WITHOUT_CHROMIUM = refuse('not_found', coded('pictures_without_chromium'))
const SWITCHED_OFF = refuse('not_found', coded('pictures_off'))
const NO_SUCH_PICTURE = refuse('not_found', coded('picture_address', { form: FORMS }))
export const LATE = { ...refuse('dependency_down', coded('picture_late')), retryAfterSeconds: RETRY_SECONDS }
const WRONG_TILE_SIZE = refuse('invalid_parameters', coded('picture_tile_size'))
const FAULTS: Readonly<Record<StaticFault['fault'], ReturnType<typeof refuse>>> = {
  address: NO_SUCH_PICTURE,
  size: refuse('invalid_parameters', coded('picture_size', { most: MOST_POINTS })),
  view: refuse('invalid_parameters', coded('picture_view')),
  overlay: refuse(
    'invalid_parameters',
    coded('picture_overlay', { markers: MOST_MARKERS, label: MOST_LABEL, paths: MOST_PATHS }),
  ),
  auto: refuse('invalid_parameters', coded('picture_auto')),
}
/** Caches must revalidate a picture whose address does not name its content. */
const REVALIDATED = 'private, no-cache'
const IMMUTABLE = 'public, max-age=31536000, immutable'
const NO_PICTURE = headerBlock(['Cache-Control', 'no-store'], ...CORS)
const VARY = ['Vary', 'Authorization, X-Access-Token'] as const

/** The address of a picture, below that of its style. */
export type PictureAddress =
  | { readonly kind: 'tilejson' }
  | { readonly kind: 'tile'; readonly address: TileAddress | NoTileAddress }
  | { readonly kind: 'static'; readonly where: string; readonly file: string }

/** Returns null for the addresses of a style's files. */
export function pictureAddress(segments: readonly string[]): PictureAddress | null {
  const [first = '', second = '', third = '', ...more] = segments
  if (segments.length === 1 && first === 'tilejson.json') return { kind: 'tilejson' }
  if (segments.length < 3 || more.length > 0) return null
  if (first === 'static') return { kind: 'static', where: second, file: third }
  return /^\d{1,10}$/.test(first) ? { kind: 'tile', address: parseTileAddress(first, second, third) } : null
}

/** Returns the request of a picture. A token with bounds gets the tiles that touch them, and the static pictures that lie in them. */
export function askPicture(edge: Edge, code: string, picture: PictureAddress, query: string, otherwise: Ask): Ask {
  const style = drawnStyle(edge.freshness.catalog, code)
  if (style === null) return otherwise
  const signable =
    style.kind === 'style'
      ? ({ opens: 'style', code, version: null } as const)
      : ({ opens: 'vector', code, version: null } as const)
  return { wanted: style.wanted, signable, reach: reachOf(picture, query) }
}

function reachOf(picture: PictureAddress, query: string): Ask['reach'] {
  if (picture.kind === 'tilejson') return 'cut'
  if (picture.kind === 'tile') {
    const { address } = picture
    return (area) => address.ok && tileTouches(TILE_MATRIX_SETS.WebMercatorQuad, address, area)
  }
  const asked = parseStatic(picture.where, picture.file, query)
  const bounds = 'fault' in asked ? null : boundsOfView(asked.view, asked)
  return ([west, south, east, north]) =>
    bounds !== null && west <= bounds[0] && south <= bounds[1] && east >= bounds[2] && north >= bounds[3]
}

/** Returns the refusal of all pictures on a host that draws none; null: it draws them. */
export function whyUndrawn({ pictures, settings }: Edge): Refusal | null {
  if (pictures.available) return null
  return settings.rendering ? WITHOUT_CHROMIUM : SWITCHED_OFF
}

/** Sends a picture to a caller who may read its style. */
export function answerPicture(exchange: RequestContext, code: string, picture: PictureAddress, fromQuery: boolean) {
  const { edge } = exchange
  const undrawn = whyUndrawn(edge)
  if (undrawn !== null && wantsEmpty(exchange.query)) return exchange.answer('204 No Content', NO_PICTURE, NOTHING)
  if (undrawn !== null) return answerRefusal(exchange, undrawn)
  const style = drawnStyle(edge.freshness.catalog, code)
  if (style === null) return answerRefusal(exchange, refuse('not_found', coded('style_not_found')))
  if (style.kind === 'vector') exchange.asked = `vector:${code}`
  if (picture.kind === 'static')
    return answerStatic(exchange, style, parseStatic(picture.where, picture.file, exchange.query))
  const tileSize = sizeIn(exchange.query)
  if (tileSize === null) answerRefusal(exchange, WRONG_TILE_SIZE)
  else if (picture.kind === 'tile') answerTile(exchange, style, picture.address, tileSize)
  else answerTileJson(exchange, style, tileSize, fromQuery)
}

/** Returns null for a size that no rendered tile has. */
function sizeIn(query: string): PictureKind['tileSize'] | null {
  const size = query.includes('size=') ? new URLSearchParams(query).get('size') : null
  return size === '256' ? 256 : size === null || size === '512' ? 512 : null
}

/** Sends a rendered tile to a caller who may read its style. */
export function answerTile(
  exchange: RequestContext,
  style: DrawnStyle,
  address: TileAddress | NoTileAddress,
  tileSize: PictureKind['tileSize'],
) {
  if (!address.ok && address.reason === 'malformed') return answerRefusal(exchange, MALFORMED_TILE)
  if (!address.ok) return answerRefusal(exchange, outsideGrid(TILE_MATRIX_SETS.WebMercatorQuad, address.z))
  const format = formatOf(address.extension)
  if (format === undefined) return answerRefusal(exchange, NO_SUCH_PICTURE)
  const { z, x, y, suffix } = address
  const basemap = pictureTiles(style, { format, tileSize, ratio: suffix === '' ? 1 : 2 })
  const [version] = basemap.versions.values()
  if (version === undefined || !isInPyramid(z, x, y))
    return answerRefusal(exchange, outsideGrid(TILE_MATRIX_SETS.WebMercatorQuad, z))
  if (z > version.stored.maxZoom) return answerRefusal(exchange, outsideZooms(version))
  const isFixed = exchange.query.includes('v=') && new URLSearchParams(exchange.query).get('v') === revisionOf(style)
  const cacheControl = isFixed ? (exchange.edge.settings.tileCacheControl ?? IMMUTABLE) : REVALIDATED
  // Names what the query selects too, since tiles in memory are found by it.
  exchange.path = `${exchange.path}?${tileSize}${isFixed ? '&v' : ''}`
  const place = { z, x, y }
  answerFrom(exchange, () => ({
    ...{ ok: true, basemap, version, place, cacheControl, isShared: true },
    // Their grants are several, which only JavaScript judges.
    isNative: false,
    waits: { ms: PICTURE_WAIT_MS, late: LATE },
  }))
}

function formatOf(extension: string): PictureFormat | undefined {
  return PICTURE_FORMATS.find((one) => one === (extension === 'jpeg' ? 'jpg' : extension))
}

function answerTileJson(
  exchange: RequestContext,
  style: DrawnStyle,
  tileSize: PictureKind['tileSize'],
  fromQuery: boolean,
) {
  const basemap = pictureTiles(style, { format: 'png', tileSize, ratio: 1 })
  const [version] = basemap.versions.values()
  if (version === undefined) return answerRefusal(exchange, INTERNAL)
  const base = `${exchange.edge.settings.tilePublicBaseUrl}/styles/${encodeURIComponent(style.code)}/{z}/{x}/{y}.png`
  const address = `${base}?${tileSize === 256 ? 'size=256&' : ''}v=${revisionOf(style)}`
  const { area } = exchange
  const { stored } = version
  const described = {
    ...stored,
    name: style.name,
    bounds: (area && commonBounds(area, stored.bounds)) ?? stored.bounds,
  }
  answerDocument(exchange, {
    of: basemap,
    key: `tilejson${areaKey(area)}`,
    grows: false,
    contentType: 'application/json; charset=utf-8',
    text: () => JSON.stringify(tileJson(described, [fromQuery ? `${address}&${SECRET_PLACE}` : address])),
    inserted: fromQuery ? tokenQuery(exchange.query) : '',
  })
}

function answerStatic(exchange: RequestContext, style: DrawnStyle, asked: StaticRequest | StaticFault) {
  if ('fault' in asked) return answerRefusal(exchange, FAULTS[asked.fault])
  const { edge } = exchange
  let isOver = false
  const settle = (answer: () => void) =>
    guarded(edge, () => {
      if (isOver || exchange.aborted) return
      isOver = true
      clearTimeout(timer)
      answer()
    })
  const timer = setTimeout(() => settle(() => answerRefusal(exchange, LATE)), PICTURE_WAIT_MS)
  edge.pictures.static(style, asked, exchange.token ?? '').then(
    (picture) => settle(() => sendPicture(exchange, picture)),
    (error) =>
      settle(() => {
        if (error instanceof TileNotMade) return answerRefusal(exchange, notMade(error))
        edge.log.error({ err: error, path: exchange.path }, 'a picture cannot be drawn')
        answerRefusal(exchange, INTERNAL)
      }),
  )
}

function sendPicture(exchange: RequestContext, { bytes, type, etag }: StaticPicture) {
  const common = [['Cache-Control', REVALIDATED], VARY, ...CORS] as const
  const current = { etag, modifiedMs: Number.POSITIVE_INFINITY }
  if (answerCondition(exchange, current, () => headerBlock(['ETag', etag], ...common))) return
  exchange.answer('200 OK', headerBlock(['Content-Type', type], ['ETag', etag], ...common), bytes)
}
