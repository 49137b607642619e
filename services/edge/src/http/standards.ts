import { type Bounds, CURRENT_VERSION, isVectorFormat } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment, flipRow, MAX_ZOOM, parseIndex, segmentOrUnknown } from '@gateway/tilesets/address.js'
import { checkDocumentParameters, QueryError } from '@gateway/vectors/query/parameters.js'
import { CORS, headerBlock } from '../answers/header-block.js'
import { areaKey, grantKey } from '../catalog/grant-key.js'
import type { DocumentText } from '../documents/build-document.js'
import type { Edge } from '../edge.js'
import { featuresApi } from '../standards/features-api.js'
import { featureCollection, vectorWithin } from '../standards/features-documents.js'
import { type GdalQuirks, gdalQuirks } from '../standards/gdal-quirks.js'
import {
  type Addresses,
  addressFormsOf,
  type Layer,
  layerOf,
  layerOfVector,
  listedLayers,
  readableLayers,
  readableVectors,
  withinArea,
} from '../standards/layer.js'
import {
  collection,
  collectionsPieces,
  conformance,
  landingPage,
  OPENAPI_30_TYPE,
  sharedCollection,
  tileMatrixSet,
  tileMatrixSets,
  tileset,
  tilesets,
} from '../standards/ogc-documents.js'
import { exceptionReport, type OwsException } from '../standards/ows-exception.js'
import { isSetOf, sizedSet } from '../standards/sized-set.js'
import { isInTms, TILE_PARAMETER, tileMap, tileMapServicePieces } from '../standards/tms-documents.js'
import { capabilitiesOfOne, capabilitiesPieces, WMTS_REST_PATH } from '../standards/wmts-capabilities.js'
import {
  ALL_SECTIONS,
  invalid,
  noSuchLayer,
  parseWmtsRequest,
  tilePathOf,
  tileRequestError,
  type WmtsRequest,
  type WmtsSection,
} from '../standards/wmts-request.js'
import type { Catalog, CatalogVector } from '../sync/catalog.js'
import { basemapAt, labelAt } from './at-time.js'
import { ANY_TOKEN, type Ask, admit, type Wanted } from './authorize.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { answerDocument } from './document.js'
import { askFeatures, isOfFeatures, isReadable, onFeatures } from './features.js'
import { answerTilePath, askLayer, layerAt, readableLayerAt, refuseUndrawn, tilePath } from './layers.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { RequestContext } from './request-context.js'
import { wantedBasemap, wantedVector } from './tile-answer.js'
import { tokenQuery } from './tilejson.js'
import { answerNoTiles, askVectorTile, onVectorTile } from './vector-tiles.js'

export const XML = 'application/xml; charset=utf-8'
const JSON_TYPE = 'application/json'
const EXCEPTION = headerBlock(['Content-Type', XML], ['Cache-Control', 'no-store'], ...CORS)

type WmtsTileRequest = Extract<WmtsRequest, { kind: 'tile' }>

/** The reader of a document, and the addresses that the document contains. */
export interface Reader {
  readonly token: AccessToken
  readonly addresses: Addresses
  /** Text that these addresses contain in place of the token. */
  readonly inserted: string
  /** Area that its token may read; null for everywhere. */
  readonly area: Bounds | null
}

/** Handles WMTS 1.0.0 in key-value form: `/wmts?...`. */
export function onWmts(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const request = parseWmtsRequest(req.getQuery() ?? '')
  if (request.kind !== 'tile') {
    const exchange = wmtsExchange(edge, res, req)
    return withReader(exchange, ANY_TOKEN, (reader) => {
      if (request.kind === 'capabilities') answerCapabilities(exchange, reader, request.only, request.sections)
      else answerException(exchange, request)
    })
  }
  const exchange = wmtsExchange(edge, res, req, wmtsTilePath(edge, request))
  withReader(exchange, askWmtsTile(edge, request), () => {
    const then = wmtsLayer(exchange.edge, request)
    if (!then.ok) {
      if (then.code === 'invalid_parameters') return answerException(exchange, invalid('Time', then.message))
      return answerRefusal(exchange, then)
    }
    const { layer, label } = then
    const error = layer === null ? noSuchLayer() : tileRequestError(request, layer)
    if (layer === null || error !== null) return answerException(exchange, error ?? noSuchLayer())
    // Uses the layer that this reader gets at that time, whose format may differ.
    answerTilePath(exchange, tilePathOf(request, layer, label ?? CURRENT_VERSION))
  })
}

/** Returns the request of `/wmts` in key-value form. */
export function askWmts(edge: Edge, _: string, query: string): Ask {
  const request = parseWmtsRequest(query)
  return request.kind === 'tile' ? askWmtsTile(edge, request) : ANY_TOKEN
}

function askWmtsTile(edge: Edge, request: WmtsTileRequest): Ask {
  return askLayer(edge, request.layer, wmtsTilePath(edge, request))
}

/** Returns the layer of a tile request at its time, and the label of its version; null for the current default. */
function wmtsLayer(edge: Edge, { layer: code, parameters }: WmtsTileRequest) {
  const time = parameters.get('TIME')
  const then = time === undefined ? ({ ok: true, label: null } as const) : labelAt(edge, code, time)
  const basemap = edge.freshness.catalog.basemaps.get(code)
  if (!then.ok) return then
  return {
    ok: true,
    layer: basemap === undefined ? layerAt(edge, code) : layerOf(basemapAt(basemap, then.label)),
    label: then.label,
  } as const
}

/** Handles the RESTful capabilities. Their tiles have the addresses of the tile route. */
export function onWmtsResource(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = wmtsExchange(edge, res, req)
  withReader(exchange, ANY_TOKEN, (reader) => {
    if (exchange.path === WMTS_REST_PATH) answerCapabilities(exchange, reader, null, ALL_SECTIONS)
    else answerRefusal(exchange, NOT_FOUND)
  })
}

/**
 * Handles TMS 1.0.0: `/tms/1.0.0`, `/tms/1.0.0/{code}` and its tiles, with rows counted from the south; also
 * `/tms/1.0.0/{code}?tile=/{z}/{x}/{y}.{ext}`.
 */
export function onTms(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const [url, query] = [req.getUrl(), req.getQuery() ?? '']
  const { version, encoded, z, x, tile: asked } = tmsRequest(edge, url, query)
  const exchange = new RequestContext(edge, 'tile', res, req, asked)
  const isService = version === '1.0.0' && encoded === ''
  withReader(exchange, askTms(edge, url, query), (reader) => {
    const { layer, tile } = tmsRequest(exchange.edge, url, query)
    if (isService) return answerList(exchange, reader, XML, 'tms', tileMapServicePieces)
    if (version !== '1.0.0' || layer === null || !isInTms(layer)) return answerRefusal(exchange, NOT_FOUND)
    if (refuseUndrawn(exchange, layer)) return
    if (tile !== undefined) return answerTilePath(exchange, tile)
    // Cesium requests the file that gdal2tiles writes, and GDAL the address that the service names.
    const isFile = z === 'tilemapresource.xml' && x === ''
    const from = isFile ? layer.minZoom : 0
    const seen = withinArea(layer, reader.area)
    if (!isFile && z !== '') answerRefusal(exchange, NOT_FOUND)
    else if (seen === null) answerRefusal(exchange, OUTSIDE_AREA)
    else answerOf(exchange, reader, layer, XML, `tilemap ${from}`, () => tileMap(seen, reader.addresses, from))
  })
}

export function askTms(edge: Edge, url: string, query: string): Ask {
  const { version, encoded, code, tile } = tmsRequest(edge, url, query)
  if (version === '1.0.0' && encoded === '') return ANY_TOKEN
  return askLayer(edge, code, tile)
}

/** Handles OGC API – Tiles 1.0 below `/ogc`. */
export function onOgc(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const url = req.getUrl()
  const request = ogcRequest(edge, url)
  const { segments, room, code, rest } = request
  if (room === 'collections' && isOfFeatures(rest)) return onFeatures(edge, res, req, code, rest)
  const ofVector = ofVectorTiles(edge, request)
  if (typeof ofVector === 'string') return onVectorTile(edge, res, req, ofVector)
  if (ofVector) return onVectorTilesets(edge, res, req, code, rest)
  const exchange = new RequestContext(edge, 'tile', res, req, request.tile)
  const isCollection = room === 'collections' && code !== '' && rest.length === 0
  const quirks = gdalQuirks(req.getHeader('accept'), req.getHeader('user-agent'))
  withReader(exchange, askOgcLayer(edge, request), (reader) => {
    const { layer, path, tile } = ogcRequest(exchange.edge, url)
    if (tile !== undefined) return answerTilePath(exchange, tile)
    const place = segments.join('/')
    const unknown = unknownParameter(exchange.query)
    if (unknown !== null && (room !== 'collections' || isCollection || code === ''))
      return answerRefusal(exchange, unknown)
    if (place === 'collections') return answerCollections(exchange, reader)
    if (isCollection) return answerCollection(exchange, { ...reader, quirks }, code)
    if (path !== null && refuseUndrawn(exchange, layer)) return
    if (place === 'api')
      return answerOf(exchange, reader, conformance, OPENAPI_30_TYPE, place, () =>
        JSON.stringify(featuresApi(reader.addresses)),
      )
    if (place === 'tileMatrixSets') return answerList(exchange, reader, JSON_TYPE, place, tileMatrixSetsText)
    const seen = layer === null ? null : withinArea(layer, reader.area)
    if (layer !== null && seen === null) return answerRefusal(exchange, OUTSIDE_AREA)
    const document =
      seen === null
        ? serviceDocument(segments, reader, exchange.edge.freshness.catalog)
        : layerDocument(seen, path, { ...reader, quirks })
    const name = `${place} ${JSON.stringify(quirks)}`
    if (document === null) answerRefusal(exchange, NOT_FOUND)
    else answerOf(exchange, reader, layer ?? conformance, JSON_TYPE, name, () => JSON.stringify(document()))
  })
}

type OgcRequest = ReturnType<typeof ogcRequest>

/** Returns the request of an address below `/ogc`, except those of styles. */
export function askOgc(edge: Edge, url: string): Ask {
  const request = ogcRequest(edge, url)
  const { room, code, rest } = request
  if (room === 'collections' && isOfFeatures(rest)) return askFeatures(edge, code)
  const ofVector = ofVectorTiles(edge, request)
  if (typeof ofVector === 'string') return askVectorTile(edge, ofVector)
  return ofVector ? askVectorTilesets(edge, code) : askOgcLayer(edge, request)
}

/** Returns the address of a vector tile at the route of vector tiles, true for the tilesets of a vector, and false for any other request. */
function ofVectorTiles(edge: Edge, { room, code, rest, layer, path }: OgcRequest): string | boolean {
  if (room !== 'collections' || (layer !== null && path !== null)) return false
  const place = vectorTilePlace(rest)
  if (place !== null) return `/vectors/${encodeURIComponent(code)}/tiles/${place.join('/')}`
  return edge.freshness.catalog.vectors.has(code) && isTilesets(rest)
}

function askOgcLayer(edge: Edge, { room, code, rest, tile }: OgcRequest): Ask {
  if (room !== 'collections' || code === '') return ANY_TOKEN
  if (rest.length > 0) return askLayer(edge, code, tile)
  const touches = (area: Bounds, token: AccessToken) => isCollectionWithin(edge, code, area, token)
  return { wanted: wantedCollection(edge, code), signable: null, reach: touches }
}

/** True if one of the parts of a collection that a token may read touches an area, or if it has none. */
function isCollectionWithin(edge: Edge, code: string, area: Bounds, token: AccessToken): boolean {
  const vector = edge.freshness.catalog.vectors.get(code)
  const layer = collectionLayer(edge, code, token)
  const features = isReadable(vector, token) ? vector : null
  if (layer === null && features === null) return true
  return (
    (layer !== null && withinArea(layer, area) !== null) || (features !== null && vectorWithin(features, area) !== null)
  )
}

/** Returns the layer of a collection that a token may read. The collection of a vector is that of its features, with a link to its pictures. */
function collectionLayer(edge: Edge, code: string, token: AccessToken): Layer | null {
  const layer = readableLayerAt(edge, code, token)
  return layer?.drawn?.kind === 'vector' ? null : layer
}

function askVectorTilesets(edge: Edge, code: string): Ask {
  const touches = (area: Bounds) => {
    const vector = edge.freshness.catalog.vectors.get(code)
    const layer = vector === undefined ? null : layerOfVector(vector)
    return layer === null || withinArea(layer, area) !== null
  }
  return { wanted: wantedVector(edge, code), signable: null, reach: touches }
}

/** The zoom, column and file of a vector's tile, as the route of its tiles has them; null: `rest` names no tile. */
function vectorTilePlace([tiles, set, z = '', row = '', column, ...more]: readonly string[]) {
  const isTile = tiles === 'tiles' && set === 'WebMercatorQuad' && column !== undefined && more.length === 0
  return isTile ? ([z, column, `${row}.mvt`] as const) : null
}

/** True for the addresses of the vector tilesets of a collection, and of one of them. */
function isTilesets([tiles, set, ...more]: readonly string[]): boolean {
  return tiles === 'tiles' && (set === undefined || set === 'WebMercatorQuad') && more.length === 0
}

/** Handles `/ogc/collections/{code}/tiles[/WebMercatorQuad]` of a vector. */
function onVectorTilesets(edge: Edge, res: HttpResponse, req: HttpRequest, code: string, rest: readonly string[]) {
  const exchange = new RequestContext(edge, 'tile', res, req)
  const quirks = gdalQuirks(req.getHeader('accept'), req.getHeader('user-agent'))
  const granted = (reader: Reader) => {
    const vector = exchange.edge.freshness.catalog.vectors.get(code)
    const layer = vector === undefined ? null : layerOfVector(vector)
    if (layer === null) return answerNoTiles(exchange, code)
    const seen = withinArea(layer, reader.area)
    if (seen === null) return answerRefusal(exchange, OUTSIDE_AREA)
    const document = layerDocument(seen, rest.slice(1), { ...reader, quirks })
    const name = `${rest.join('/')} ${JSON.stringify(quirks)}`
    if (document === null) answerRefusal(exchange, NOT_FOUND)
    else answerOf(exchange, reader, layer, JSON_TYPE, name, () => JSON.stringify(document()))
  }
  withReader(exchange, askVectorTilesets(edge, code), granted)
}

/** Returns the resources of a collection: a basemap or a style and a vector with one code form one collection, which exists for readers of either. */
function wantedCollection(edge: Edge, code: string): Wanted {
  const { basemaps, vectors } = edge.freshness.catalog
  const layer = basemaps.get(code)?.wanted ?? layerAt(edge, code)?.drawn?.wanted
  const vector = vectors.get(code)?.wanted
  const candidates = [layer, vector].filter((wanted) => wanted !== undefined)
  return candidates.length === 0 ? wantedBasemap(edge, code) : candidates
}

/** Returns the refusal for an unknown parameter, or null. */
export function unknownParameter(query: string): Refusal | null {
  try {
    checkDocumentParameters(query)
    return null
  } catch (error) {
    if (error instanceof QueryError) return refuse('invalid_parameters', error.said)
    throw error
  }
}

function answerCollections(exchange: RequestContext, { token, addresses, inserted, area }: Reader): void {
  const { catalog } = exchange.edge.freshness
  answerDocument(exchange, {
    of: catalog,
    key: `collections ${inserted === '' ? '' : 'token'} ${grantKey(token.basemaps)} ${grantKey(token.vectors)}${areaKey(area)}`,
    grows: true,
    contentType: JSON_TYPE,
    inserted,
    text: () => {
      const vectors = readableVectors(catalog, token)
      const seen = area === null ? vectors : vectors.flatMap((vector) => vectorWithin(vector, area) ?? [])
      const draws = exchange.edge.pictures.available
      return collectionsPieces(listedLayers(catalog, token, draws), seen, addresses)
    },
  })
}

function answerCollection(
  exchange: RequestContext,
  reader: Reader & { readonly quirks: GdalQuirks },
  code: string,
): void {
  const { token, addresses, quirks, area } = reader
  const { edge } = exchange
  const vector = edge.freshness.catalog.vectors.get(code)
  const layer = collectionLayer(edge, code, token)
  const tiles = layer === null ? null : withinArea(layer, area)
  const isOfFeatures = isReadable(vector, token)
  const features = isOfFeatures ? vectorWithin(vector, area) : null
  if (tiles === null && features === null) {
    if (layer !== null || isOfFeatures) answerRefusal(exchange, OUTSIDE_AREA)
    else if (!refuseUndrawn(exchange, layerAt(edge, code))) answerRefusal(exchange, NOT_FOUND)
    return
  }
  const name = `collection ${JSON.stringify(quirks)}`
  const hasPictures = edge.pictures.available && layerAt(edge, code)?.drawn?.kind === 'vector'
  const make = () => {
    if (features === null) return collection(tiles as Layer, addresses, quirks)
    return tiles === null
      ? featureCollection(features, addresses, hasPictures)
      : sharedCollection(tiles, features, addresses, quirks)
  }
  // A shared collection depends on both, so it is bound to the snapshot of the catalog, which each change replaces.
  const of = tiles === null ? (vector as CatalogVector) : features === null ? (layer as Layer) : edge.freshness.catalog
  const key = tiles !== null && features !== null ? `${name} ${code}` : name
  answerOf(exchange, reader, of, JSON_TYPE, key, () => JSON.stringify(make()))
}

function tileMatrixSetsText(layers: readonly Layer[], addresses: Addresses): string {
  return JSON.stringify(tileMatrixSets(layers, addresses))
}

/** null if no document has this address. */
type MakeDocument = (() => object) | null

function serviceDocument(segments: readonly string[], { addresses, token }: Reader, catalog: Catalog): MakeDocument {
  switch (segments.join('/')) {
    case '':
      return () => landingPage(addresses)
    case 'conformance':
      return conformance
  }
  const [room, id = '', ...rest] = segments
  const sized =
    room === 'tileMatrixSets' && rest.length === 0 ? sizedSet(id, () => readableLayers(catalog, token)) : null
  return sized === null ? null : () => tileMatrixSet(id, sized)
}

/** `path` is the part after `tiles` in the address, or null if the address does not name tiles. */
function layerDocument(
  layer: Layer,
  path: readonly string[] | null,
  { addresses, quirks }: Reader & { readonly quirks: GdalQuirks },
): MakeDocument {
  if (path?.length === 0) return () => tilesets(layer, addresses)
  return path?.length === 1 && isSetOf(layer, path[0] as string) ? () => tileset(layer, addresses, quirks) : null
}

/** Returns the part after `map/tiles`, or after `tiles` for vector tiles; null for any other address. */
function belowTiles({ format }: Layer, rest: readonly string[]): readonly string[] | null {
  const [first, ...others] = isVectorFormat(format) ? rest : rest[0] === 'map' ? rest.slice(1) : []
  return first === 'tiles' ? others : null
}

/** Returns the tile route's address of `{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}`, or undefined for another set. */
function ogcTilePath(layer: Layer, [set, z, row, column]: readonly string[]): string | undefined {
  return set !== undefined && isSetOf(layer, set) ? tilePath(layer, `${z}/${column}/${row}.${layer.format}`) : undefined
}

/** Returns the tile route's address of a TMS tile. */
function northernPath(layer: Layer, zText: string, x: string, yDotExtension: string): string {
  const z = parseIndex(zText)
  const dot = yDotExtension.indexOf('.')
  const y = parseIndex(yDotExtension.slice(0, dot))
  const isRow = dot > 0 && z >= 0 && z <= MAX_ZOOM && y >= 0 && y < 2 ** z
  // An invalid row stays unchanged, so that the tile route refuses it.
  return tilePath(layer, `${zText}/${x}/${isRow ? `${flipRow(z, y)}${yDotExtension.slice(dot)}` : yDotExtension}`)
}

function answerCapabilities(
  exchange: RequestContext,
  reader: Reader,
  only: string | null,
  sections: ReadonlySet<WmtsSection>,
): void {
  const provider = exchange.edge.settings
  const name = sections === ALL_SECTIONS ? 'wmts' : `wmts ${[...sections].sort()}`
  const layer = only === null ? null : readableLayerAt(exchange.edge, only, reader.token)
  const seen = layer === null ? null : withinArea(layer, reader.area)
  // The response must not disclose whether an unreadable layer exists.
  if (only === null) answerList(exchange, reader, XML, name, (...all) => capabilitiesPieces(...all, provider, sections))
  else if (layer === null || seen === null) answerException(exchange, noSuchLayer())
  else answerOf(exchange, reader, layer, XML, name, () => capabilitiesOfOne(seen, reader.addresses, provider, sections))
}

/** Sends a document about everything that a reader may read. */
function answerList(
  exchange: RequestContext,
  { token, addresses, inserted, area }: Reader,
  contentType: string,
  name: string,
  text: (layers: readonly Layer[], addresses: Addresses) => DocumentText,
): void {
  const { catalog } = exchange.edge.freshness
  const draws = exchange.edge.pictures.available
  const vectors = draws ? ` ${grantKey(token.vectors)}` : ''
  const key = `${name} ${inserted === '' ? '' : 'token'} ${grantKey(token.basemaps)}${vectors}${areaKey(area)}`
  const make = () => text(listedLayers(catalog, token, draws), addresses)
  answerDocument(exchange, {
    of: draws ? catalog : catalog.basemaps,
    key,
    grows: true,
    contentType,
    inserted,
    text: make,
  })
}

/** Sends a document about one resource, which is the same for all its readers with the same area. */
export function answerOf(
  exchange: RequestContext,
  { inserted, area }: Reader,
  of: object,
  contentType: string,
  name: string,
  text: () => string,
): void {
  answerDocument(exchange, {
    of,
    key: `${name}${areaKey(area)}`,
    grows: false,
    contentType,
    inserted,
    text,
  })
}

export function answerException(exchange: RequestContext, exception: OwsException): void {
  exchange.answer('400 Bad Request', EXCEPTION, exceptionReport(exception))
}

function wmtsExchange(edge: Edge, res: HttpResponse, req: HttpRequest, path?: string): RequestContext {
  const exchange = new RequestContext(edge, 'tile', res, req, path)
  exchange.errorForm = 'ows'
  return exchange
}

export function withReader(exchange: RequestContext, ask: Ask, then: (reader: Reader) => void): void {
  const admitted = (fromQuery: boolean, _: number, token: AccessToken) => {
    const { plain, withToken } = addressFormsOf(exchange.edge.settings.tilePublicBaseUrl)
    const { area } = exchange
    if (fromQuery)
      then({
        token,
        addresses: withToken,
        inserted: tokenQuery(exchange.query, exchange.takesTk),
        area,
      })
    else then({ token, addresses: plain, inserted: '', area })
  }
  admit(exchange, ask, admitted)
}

/** Returns the tile route's address of a WMTS request, or undefined if the layer does not exist. */
function wmtsTilePath(edge: Edge, request: WmtsTileRequest): string | undefined {
  const layer = layerAt(edge, request.layer)
  return layer === null ? undefined : tilePathOf(request, layer)
}

/** Parses an address below `/tms`. `tile` is the tile route's address, or undefined if it names no tile of a layer. */
function tmsRequest(edge: Edge, url: string, query: string) {
  const place = new URLSearchParams(query).get(TILE_PARAMETER) ?? ''
  const [, , version, encoded = '', z = '', x = '', y] = `${url.replace(/\/$/, '')}${place}`.split('/')
  const code = decodedSegment(encoded) ?? ''
  const layer = layerAt(edge, code)
  const tile = y === undefined || layer === null ? undefined : northernPath(layer, z, x, y)
  return { version, encoded, code, layer, z, x, tile }
}

/** Parses an address below `/ogc` in the same way. `path` is the part after `tiles`. */
function ogcRequest(edge: Edge, url: string) {
  const segments = url.replace(/\/$/, '').split('/').slice(2).map(segmentOrUnknown)
  const [room, code = '', ...rest] = segments
  const layer = room === 'collections' && code !== '' ? layerAt(edge, code) : null
  const path = layer === null ? [] : belowTiles(layer, rest)
  const tile = layer !== null && path?.length === 4 ? ogcTilePath(layer, path) : undefined
  return { segments, room, code, rest, layer, path, tile }
}
