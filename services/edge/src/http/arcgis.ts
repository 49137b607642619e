import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import type { DocumentText } from '../documents/build-document.js'
import type { Edge } from '../edge.js'
import {
  mapLayer,
  mapLayers,
  mapLegend,
  mapServer,
  rootStyle,
  type ServiceType,
  serverInfo,
  serviceList,
  serviceType,
  vectorTileServer,
} from '../standards/esri-documents.js'
import { type Addresses, type Layer, withinArea } from '../standards/layer.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { RequestContext } from './request-context.js'
import { answerList, answerOf, answerTilePath, layerAt, reachOf, withReader } from './standards.js'
import { wantedBasemap } from './tile-answer.js'
import { answerTilemap } from './tilemap.js'

const JSON_TYPE = 'application/json; charset=utf-8'
/** Operations of a map service that cannot be served from tiles. */
const OPERATIONS: ReadonlySet<string> = new Set([
  ...['export', 'identify', 'find', 'query', 'exporttiles', 'estimateexporttilessize', 'generatekml', 'querydomains'],
])
const NOT_OFFERED = refuse('invalid_parameters', coded('esri_operation'))
const OTHER_FORMAT = refuse('invalid_parameters', coded('esri_format'))

type MakeDocument = (layer: Layer, addresses: Addresses) => object

/** Documents of a map service by the part of the address that follows the service, in lower case. */
const MAP_DOCUMENTS: Readonly<Record<string, MakeDocument>> = {
  '': mapServer,
  '0': mapLayer,
  layers: mapLayers,
  legend: mapLegend,
}
const VECTOR_DOCUMENTS: Readonly<Record<string, MakeDocument>> = {
  '': vectorTileServer,
  'resources/styles': rootStyle,
  'resources/styles/root.json': rootStyle,
}

/** Parts of an address below `/arcgis/`. As in ArcGIS, keywords are case-insensitive and codes are not. */
interface Address {
  /** Part before the code: `rest/info`, `rest/services`. */
  readonly room: string
  readonly code: string
  readonly type: string
  readonly rest: readonly string[]
}

function parseAddress(path: string): Address {
  const segments = path
    .replace(/\/$/, '')
    .split('/')
    .slice(2)
    .map((segment) => decodedSegment(segment) ?? '')
  const [rest = '', room = '', code = '', type = '', ...more] = segments
  return { room: `${rest}/${room}`.toLowerCase(), code, type: type.toLowerCase(), rest: more }
}

/**
 * Parses an address below `/arcgis/`. `code` is '' if it names no basemap. `tile` is the tile route's address, or undefined if it names no
 * tile.
 */
export function arcgisRequest(edge: Edge, path: string) {
  const { room, type, rest, ...address } = parseAddress(path)
  const code = room === 'rest/services' ? address.code : ''
  const layer = code === '' ? null : layerAt(edge, code)
  const service = layer !== null && type === serviceType(layer).toLowerCase() ? serviceType(layer) : null
  const tile = layer === null || service === null ? undefined : tilePathAt(layer, service, rest)
  return { room, isWhole: address.code === '', code, layer, service, rest, tile }
}

/** Serves the part of ArcGIS REST that concerns tiles: the list of services, map services of cached tiles, vector tile services. */
export function onArcgis(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const url = req.getUrl()
  const { room, isWhole, code, rest, tile: asked } = arcgisRequest(edge, url)
  const exchange = new RequestContext(edge, 'tile', res, req, asked)
  exchange.errorForm = 'esri'
  const wanted = code === '' ? null : wantedBasemap(edge, code)
  withReader(exchange, wanted, code === '' ? 'cut' : reachOf(asked, code), (reader) => {
    const { layer, service, tile } = arcgisRequest(exchange.edge, url)
    if (tile !== undefined) return answerTilePath(exchange, tile)
    const operation = rest.join('/').toLowerCase()
    if (service === 'MapServer' && OPERATIONS.has(rest[0]?.toLowerCase() ?? ''))
      return answerRefusal(exchange, NOT_OFFERED)
    const format = formatOf(exchange.query)
    if (format === null) return answerRefusal(exchange, OTHER_FORMAT)
    const text = (document: object) => JSON.stringify(document, null, format === 'json' ? 0 : 2)
    if (room === 'rest/services' && isWhole)
      return answerList(exchange, reader, JSON_TYPE, 'esri services', serviceListText)
    if (room === 'rest/info' && isWhole)
      return answerOf(exchange, reader, serverInfo, JSON_TYPE, `esri info ${format}`, () => text(serverInfo()))
    if (layer === null || service === null) return answerRefusal(exchange, NOT_FOUND)
    const seen = withinArea(layer, reader.area)
    if (seen === null) return answerRefusal(exchange, OUTSIDE_AREA)
    if (service === 'MapServer' && rest[0]?.toLowerCase() === 'tilemap')
      return answerTilemap(exchange, { code, version: CURRENT_VERSION, extension: layer.format }, rest.slice(1))
    const documents = service === 'MapServer' ? MAP_DOCUMENTS : VECTOR_DOCUMENTS
    const make = Object.hasOwn(documents, operation) ? documents[operation] : undefined
    if (make === undefined) return answerRefusal(exchange, NOT_FOUND)
    const name = `esri ${operation} ${format} ${reader.inserted === '' ? '' : 'token'}`
    answerOf(exchange, reader, layer, JSON_TYPE, name, () => text(make(seen, reader.addresses)))
  })
}

function serviceListText(layers: readonly Layer[], addresses: Addresses): DocumentText {
  return serviceList(layers, addresses)
}

/**
 * Returns the tile route's address of `tile/{level}/{row}/{column}`, which ends in `.pbf` for vector tiles, or undefined if the rest names
 * no tile.
 */
function tilePathAt(layer: Layer, service: ServiceType, rest: readonly string[]): string | undefined {
  const [word = '', level = '', row = '', column = '', ...more] = rest
  if (word.toLowerCase() !== 'tile' || rest.length !== 4 || more.length > 0) return undefined
  const isVector = service === 'VectorTileServer'
  if (isVector && !/\.pbf$/i.test(column)) return undefined
  const x = isVector ? column.slice(0, -'.pbf'.length) : column
  const place = [level, x, `${row}.${layer.format}`].map(encodeURIComponent).join('/')
  return `/tiles/${encodeURIComponent(layer.code)}/${CURRENT_VERSION}/${place}`
}

/** Returns the requested format of a document, or null if it is none of these. For a page (`html`) the JSON is indented. */
function formatOf(query: string): 'json' | 'pjson' | null {
  for (const [name, value] of new URLSearchParams(query)) {
    if (name.toLowerCase() !== 'f') continue
    const format = value.toLowerCase()
    if (format === 'json' || format === '') return 'json'
    return format === 'pjson' || format === 'html' ? 'pjson' : null
  }
  return 'json'
}
