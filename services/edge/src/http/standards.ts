import type { AccessToken, WantedResource } from '@gateway/access/decide.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment, flipRow, MAX_ZOOM, parseIndex, parseTilePath } from '@gateway/tilesets/address.js'
import type { Edge } from '../edge.js'
import { type Addresses, type Layer, layerOf, readableLayers } from '../standards/layer.js'
import {
  collection,
  collections,
  conformance,
  landingPage,
  tileMatrixSet,
  tileMatrixSets,
  tileset,
  tilesets,
} from '../standards/ogc-documents.js'
import { exceptionReport, type OwsException } from '../standards/ows-exception.js'
import { sizedSet, sizedSetId } from '../standards/sized-set.js'
import { TILE_PARAMETER, tileMap, tileMapService } from '../standards/tms-documents.js'
import { WMTS_REST_PATH, wmtsCapabilities } from '../standards/wmts-capabilities.js'
import { noSuchLayer, parseWmtsRequest, tilePathOf, tileRequestError } from '../standards/wmts-request.js'
import { authorize } from './authorize.js'
import { answerDocument, documentHeaders } from './document.js'
import { Exchange } from './exchange.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { wantedBasemap } from './tile-answer.js'
import { tokenQuery } from './tilejson.js'
import { answerTile } from './tiles.js'

const XML = documentHeaders('application/xml; charset=utf-8')
const JSON_HEADERS = documentHeaders('application/json')

/** What a document is made for: its reader, and where it says that things are. */
interface Reader {
  readonly token: AccessToken
  readonly addresses: Addresses
}

/** WMTS 1.0.0 by key and value: `/wmts?...`. */
export function onWmts(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const request = parseWmtsRequest(req.getQuery() ?? '')
  if (request.kind !== 'tile') {
    const exchange = wmtsExchange(edge, res, req)
    return withReader(exchange, null, (reader) => {
      if (request.kind === 'capabilities') answerCapabilities(exchange, reader, request.only)
      else answerException(exchange, request)
    })
  }
  const layer = layerAt(edge, request.layer)
  const exchange = wmtsExchange(edge, res, req, layer === null ? undefined : tilePathOf(request, layer))
  withReader(exchange, wantedBasemap(edge, request.layer), () => {
    const error = layer === null ? noSuchLayer() : tileRequestError(request, layer)
    if (error === null) answerTilePath(exchange)
    else answerException(exchange, error)
  })
}

/** The RESTful capabilities. Their tiles are at the addresses of all tiles. */
export function onWmtsResource(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = wmtsExchange(edge, res, req)
  withReader(exchange, null, (reader) => {
    if (exchange.path === WMTS_REST_PATH) answerCapabilities(exchange, reader, null)
    else answerRefusal(exchange, NOT_FOUND)
  })
}

/** TMS 1.0.0: `/tms/1.0.0`, `/tms/1.0.0/{code}` and its tiles, rows counted from the south; also `/tms/1.0.0/{code}?tile=/{z}/{x}/{y}.{ext}`. */
export function onTms(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const place = new URLSearchParams(req.getQuery()).get(TILE_PARAMETER) ?? ''
  const [, , version, code = '', z = '', x = '', y] = `${req.getUrl().replace(/\/$/, '')}${place}`.split('/')
  const layer = layerAt(edge, decodedSegment(code) ?? '')
  const tile = y === undefined || layer === null ? undefined : northernPath(layer, z, x, y)
  const exchange = new Exchange(edge, 'tile', res, req, tile)
  const isService = version === '1.0.0' && code === ''
  withReader(exchange, isService ? null : wantedBasemap(edge, decodedSegment(code) ?? ''), ({ token, addresses }) => {
    if (isService) return answerDocument(exchange, XML, tileMapService(readable(edge, token), addresses))
    if (version !== '1.0.0' || layer === null) return answerRefusal(exchange, NOT_FOUND)
    if (tile !== undefined) return answerTilePath(exchange)
    // Cesium asks for the file that gdal2tiles writes.
    const isMap = z === '' || (z === 'tilemapresource.xml' && x === '')
    if (isMap) answerDocument(exchange, XML, tileMap(layer, addresses))
    else answerRefusal(exchange, NOT_FOUND)
  })
}

/** OGC API – Tiles 1.0 below `/ogc`. */
export function onOgc(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const segments = req
    .getUrl()
    .replace(/\/$/, '')
    .split('/')
    .slice(2)
    .map((segment) => decodedSegment(segment) ?? '')
  const [room, code = '', ...rest] = segments
  const layer = room === 'collections' && code !== '' ? layerAt(edge, code) : null
  const path = layer === null ? [] : belowTiles(layer, rest)
  const tile = layer !== null && path?.length === 4 ? ogcTilePath(layer, path) : undefined
  const exchange = new Exchange(edge, 'tile', res, req, tile)
  const wanted = room === 'collections' && code !== '' ? wantedBasemap(edge, code) : null
  withReader(exchange, wanted, (reader) => {
    if (tile !== undefined) return answerTilePath(exchange)
    const document = layer === null ? serviceDocument(edge, segments, reader) : layerDocument(layer, rest, path, reader)
    if (document === null) answerRefusal(exchange, NOT_FOUND)
    else answerDocument(exchange, JSON_HEADERS, JSON.stringify(document))
  })
}

function serviceDocument(edge: Edge, segments: readonly string[], { token, addresses }: Reader): object | null {
  switch (segments.join('/')) {
    case '':
      return landingPage(addresses)
    case 'conformance':
      return conformance()
    case 'collections':
      return collections(readable(edge, token), addresses)
    case 'tileMatrixSets':
      return tileMatrixSets(readable(edge, token), addresses)
  }
  const [room, id = '', ...rest] = segments
  const sized = room === 'tileMatrixSets' && rest.length === 0 ? sizedSet(id) : null
  return sized === null ? null : tileMatrixSet(id, sized)
}

/** `path`: what follows `tiles` in the address; null: the address does not name tiles. */
function layerDocument(
  layer: Layer,
  rest: readonly string[],
  path: readonly string[] | null,
  { addresses }: Reader,
): object | null {
  if (rest.length === 0) return collection(layer, addresses)
  if (path?.length === 0) return tilesets(layer, addresses)
  return path?.length === 1 && isSetOf(layer, path[0] as string) ? tileset(layer, addresses) : null
}

/** What follows `map/tiles`, or `tiles` of vector tiles; null: something else. */
function belowTiles({ format }: Layer, rest: readonly string[]): readonly string[] | null {
  const [first, ...others] = format === 'pbf' ? rest : rest[0] === 'map' ? rest.slice(1) : []
  return first === 'tiles' ? others : null
}

/** The tile route's address of `{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}`; undefined: of another set. */
function ogcTilePath(layer: Layer, [set, z, row, column]: readonly string[]): string | undefined {
  return set !== undefined && isSetOf(layer, set) ? tilePath(layer, `${z}/${column}/${row}.${layer.format}`) : undefined
}

/** The tile route's address of a TMS tile. */
function northernPath(layer: Layer, zText: string, x: string, yDotExtension: string): string {
  const z = parseIndex(zText)
  const dot = yDotExtension.indexOf('.')
  const y = parseIndex(yDotExtension.slice(0, dot))
  const isRow = dot > 0 && z >= 0 && z <= MAX_ZOOM && y >= 0 && y < 2 ** z
  // What is no row stays as it is, for the tile route to refuse.
  return tilePath(layer, `${zText}/${x}/${isRow ? `${flipRow(z, y)}${yDotExtension.slice(dot)}` : yDotExtension}`)
}

function tilePath({ code }: Layer, place: string): string {
  return `/tiles/${encodeURIComponent(code)}/current/${place}`
}

function answerTilePath(exchange: Exchange): void {
  const path = parseTilePath(exchange.path)
  if (path.kind === 'tile') answerTile(exchange, path)
  else answerRefusal(exchange, NOT_FOUND)
}

function answerCapabilities(exchange: Exchange, { token, addresses }: Reader, only: string | null): void {
  const layers = readable(exchange.edge, token).filter(({ code }) => only === null || code === only)
  // Whether one that may not be read exists is not told.
  if (only !== null && layers.length === 0) answerException(exchange, noSuchLayer())
  else answerDocument(exchange, XML, wmtsCapabilities(layers, addresses))
}

function answerException(exchange: Exchange, exception: OwsException): void {
  exchange.answer('400 Bad Request', XML.plain, exceptionReport(exception))
}

function wmtsExchange(edge: Edge, res: HttpResponse, req: HttpRequest, path?: string): Exchange {
  const exchange = new Exchange(edge, 'tile', res, req, path)
  exchange.errorForm = 'ows'
  return exchange
}

function withReader(exchange: Exchange, wanted: WantedResource, then: (reader: Reader) => void): void {
  authorize(exchange, wanted, (fromQuery, _, token) => {
    const base = exchange.edge.settings.tilePublicBaseUrl
    then({ token, addresses: { base, token: fromQuery ? tokenQuery(exchange.query) : '' } })
  })
}

function readable({ freshness }: Edge, token: AccessToken): Layer[] {
  return readableLayers(freshness.catalog, token)
}

function layerAt({ freshness }: Edge, code: string): Layer | null {
  const basemap = freshness.catalog.basemaps.get(code)
  return basemap === undefined ? null : layerOf(basemap)
}

/** The set of 256 pixels names the same places, whatever the size of a layer's tiles. */
function isSetOf(layer: Layer, id: string): boolean {
  return id === sizedSetId(layer) || id === layer.set.id
}
