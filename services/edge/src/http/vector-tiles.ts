import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment, isInPyramid, parseTileAddress } from '@gateway/tilesets/address.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import { isExtensionOf } from '@gateway/tilesets/formats.js'
import type { TilePlace } from '@gateway/tilesets/source.js'
import { TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import { tileJson } from '@gateway/tilesets/tilejson.js'
import { areaKey } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { variantOf } from '../features/database-tiles.js'
import { type CatalogBasemap, type CatalogVersion, commentOn, relationOf } from '../sync/catalog.js'
import type { TileTarget } from '../tiles/tile-cache.js'
import { isInDatabase } from '../tiles/tile-loader.js'
import { ANY_TOKEN, type Ask, admit } from './authorize.js'
import { OUTSIDE_AREA, type Signable } from './authorize-signed.js'
import { answerDocument, SECRET_PLACE } from './document.js'
import { isOutsideZooms, noVector, outsideGrid, outsideZooms, shownName, wrongExtension } from './missing-reasons.js'
import { answerRefusal, MALFORMED_TILE, UNDECODABLE } from './refusals.js'
import { RequestContext } from './request-context.js'
import { vectorTileCacheControl, wantedVector } from './tile-answer.js'
import { tokenQuery } from './tilejson.js'
import { answerFrom } from './tiles.js'

const VECTORS = '/vectors/'
const TILEJSON = '/tilejson.json'

/** GET and HEAD of `/vectors/{code}/tiles/{z}/{x}/{y}.mvt`, or `.pbf`. */
export function onVectorTile(
  edge: Edge,
  res: HttpResponse,
  req: HttpRequest,
  path = req.getUrl(),
  errorForm: RequestContext['errorForm'] = 'json',
) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req, path)
  exchange.errorForm = errorForm
  exchange.takesEsri = errorForm === 'esri'
  const { code, address } = vectorTileAddress(exchange.path)
  const ask = askVectorTile(edge, exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const granted = () => {
    const served = servedTiles(edge, code)
    if (address === null || (!address.ok && address.reason === 'malformed'))
      return answerRefusal(exchange, MALFORMED_TILE)
    if (served === null) return answerNoTiles(exchange, code)
    const { version } = served
    if (!address.ok) return answerRefusal(exchange, outsideGrid(TILE_MATRIX_SETS.WebMercatorQuad, address.z))
    if (address.suffix !== '' || !isExtensionOf(address.extension, 'pbf'))
      return answerRefusal(exchange, wrongExtension(version))
    if (!isInPyramid(address.z, address.x, address.y))
      return answerRefusal(exchange, outsideGrid(TILE_MATRIX_SETS.WebMercatorQuad, address.z))
    if (isOutsideZooms(version, address.z)) return answerRefusal(exchange, outsideZooms(version))
    answerFrom(exchange, () => targetOf(exchange, code, served, address))
  }
  admit(exchange, ask, granted)
}

/** Returns the tile of a vector for a caller who may read it. */
export function targetOf(
  { edge, token, query, area }: RequestContext,
  code: string,
  { basemap, version }: ServedTiles,
  address: TilePlace,
): TileTarget {
  const target = { ok: true, basemap, version } as const
  const vector = isInDatabase(version) ? edge.freshness.catalog.vectors.get(code) : undefined
  const relation = vector === undefined ? null : relationOf(vector)
  if (relation === null)
    return { ...target, place: address, cacheControl: vectorTileCacheControl(edge.settings), isShared: true }
  // The tiles are kept where they are made, for the time of their table.
  const cacheControl = relation.isPersonal ? 'private, no-store' : `public, max-age=${relation.ttlSeconds}`
  const variant = variantOf(relation, token ?? '', query)
  // A function also depends on the query, and a tile that is cut would be kept beyond the time of its table.
  const isShared = relation.what === 'table' && variant === undefined && area === null
  return { ...target, place: variant === undefined ? address : { ...address, variant }, cacheControl, isShared }
}

/** `code` is null if it cannot be decoded, and `address` if the path has more parts. */
export function vectorTileAddress(path: string) {
  const [segment = '', , z = '', x = '', file = '', ...more] = path.slice(VECTORS.length).split('/')
  return { code: decodedSegment(segment), address: more.length === 0 ? parseTileAddress(z, x, file) : null }
}

/** Returns the request of a tile of a vector. An invalid tile address has no place, and is refused for that reason. */
export function askVectorTile(edge: Edge, path: string): Ask {
  const { code, address } = vectorTileAddress(path)
  if (code === null) return ANY_TOKEN
  const signable: Signable = {
    ...{ opens: 'vector', code, version: null, address: address ?? { ok: false, reason: 'malformed' } },
  }
  return { wanted: wantedVector(edge, code), signable, reach: signable }
}

/** Handles GET and HEAD of `/vectors/{code}/tilejson.json`. Its tile addresses contain the served revision, so that a map has one content. */
export function onVectorTileJson(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  const code = decodedSegment(exchange.path.slice(VECTORS.length, -TILEJSON.length))
  const ask = askVectorTileJson(edge, exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const granted = (fromQuery: boolean) => {
    const served = servedTiles(edge, code)
    if (served === null) return answerNoTiles(exchange, code)
    const { basemap, version } = served
    const { area } = exchange
    const bounds = area === null ? version.stored.bounds : commonBounds(area, version.stored.bounds)
    if (area !== null && bounds === null) return answerRefusal(exchange, OUTSIDE_AREA)
    const vector = edge.freshness.catalog.vectors.get(code)
    const description = vector === undefined ? null : commentOn(vector)
    const base = `${edge.settings.vectorPublicBaseUrl}/vectors/${encodeURIComponent(code)}/tiles/{z}/{x}/{y}.mvt`
    const address = `${base}?v=${version.stored.revision}`
    answerDocument(exchange, {
      of: basemap,
      key: `tilejson${areaKey(area)} ${description ?? ''}`,
      grows: false,
      contentType: 'application/json; charset=utf-8',
      text: () =>
        JSON.stringify(
          tileJson({ ...version.stored, bounds, name: basemap.stored.name, description }, [
            fromQuery ? `${address}&${SECRET_PLACE}` : address,
          ]),
        ),
      inserted: fromQuery ? tokenQuery(exchange.query) : '',
    })
  }
  admit(exchange, ask, granted)
}

export function askVectorTileJson(edge: Edge, path: string): Ask {
  const code = decodedSegment(path.slice(VECTORS.length, -TILEJSON.length))
  if (code === null) return ANY_TOKEN
  const bounds = servedTiles(edge, code)?.version.stored.bounds ?? null
  return {
    wanted: wantedVector(edge, code),
    signable: { opens: 'vector', code, version: null },
    reach: (area) => commonBounds(area, bounds) !== null,
  }
}

export interface ServedTiles {
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
}

/** Returns null if the vector is not served, or has no tiles. */
export function servedTiles(edge: Edge, code: string): ServedTiles | null {
  const basemap = edge.freshness.catalog.vectors.get(code)?.tiles ?? null
  const version = basemap?.versions.get(basemap.stored.defaultVersion ?? '')
  return basemap === null || version === undefined ? null : { basemap, version }
}

/** Limit: seconds after which a client may ask again for the first tiles of a vector. */
const RETRY_SECONDS = 5

/** Refuses a request for the tiles of a vector that has none, or none yet. */
export function answerNoTiles(exchange: RequestContext, code: string) {
  const vector = exchange.edge.freshness.catalog.vectors.get(code)
  if (vector?.served && vector.stored.tiles.queued) {
    const refusal = refuse('dependency_down', coded('vector_tiles_building', { name: shownName(code) }))
    return answerRefusal(exchange, { ...refusal, retryAfterSeconds: RETRY_SECONDS })
  }
  if (!vector?.served) return answerRefusal(exchange, noVector(code))
  answerRefusal(exchange, refuse('not_found', coded('vector_tiles_absent', { name: shownName(code) })))
}
