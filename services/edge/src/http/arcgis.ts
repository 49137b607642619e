import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { segmentOrUnknown } from '@gateway/tilesets/address.js'
import { areaKey, grantKey } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import {
  mapLayer,
  mapLayers,
  mapLegend,
  mapServer,
  rootStyle,
  serverInfo,
  serviceListPieces,
  vectorTileServer,
} from '../standards/esri-documents.js'
import { type EsriService, readableServices, serviceAt, styleRoot, styleServer } from '../standards/esri-services.js'
import { type Addresses, type Layer, vectorPath, withinArea } from '../standards/layer.js'
import { ANY_TOKEN, type Ask, type Wanted } from './authorize.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { answerDocument } from './document.js'
import { answerTilePath, askLayer, refuseUndrawn, tilePath } from './layers.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { RequestContext } from './request-context.js'
import { answerOf, type Reader, withReader } from './standards.js'
import { stylePlaces } from './styles.js'
import { wantedBasemap } from './tile-answer.js'
import { answerTilemap } from './tilemap.js'
import { askVectorTile, onVectorTile } from './vector-tiles.js'

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
  const segments = path.replace(/\/$/, '').split('/').slice(2).map(segmentOrUnknown)
  const [rest = '', room = '', code = '', type = '', ...more] = segments
  return { room: `${rest}/${room}`.toLowerCase(), code, type: type.toLowerCase(), rest: more }
}

/**
 * Returns the parts of an address below `/arcgis/`. `code` is '' if the address does not name a service. `wanted` is the resource that a token must
 * be granted. `tile` is the address of the tile at the tile route or at that of vector tiles; undefined if the address does not name a tile.
 */
function arcgisRequest(edge: Edge, path: string) {
  const { room, type, rest, ...address } = parseAddress(path)
  const code = room === 'rest/services' ? address.code : ''
  const service = code === '' ? null : serviceAt(edge.freshness.catalog, code, type)
  const tile = service === null ? undefined : tilePathAt(service, rest)
  return { room, isWhole: address.code === '', code, service, rest, tile, wanted: wantedService(edge, code, service) }
}

function wantedService(edge: Edge, code: string, service: EsriService | null): Wanted {
  if (code === '') return null
  if (service?.kind === 'vector') return service.vector.wanted
  if (service?.kind === 'picture') return service.drawn.wanted
  return service?.kind === 'style' ? service.style.wanted : wantedBasemap(edge, code)
}

/** Serves the part of ArcGIS REST that concerns tiles: the list of services, map services of cached tiles, vector tile services. */
export function onArcgis(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const url = req.getUrl()
  const { room, isWhole, rest, tile: asked, service: known } = arcgisRequest(edge, url)
  if (known?.kind === 'vector' && asked !== undefined) return onVectorTile(edge, res, req, asked, 'esri')
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req, asked)
  exchange.errorForm = 'esri'
  exchange.takesEsri = true
  withReader(exchange, askArcgis(edge, url), (reader) => {
    const { service, tile } = arcgisRequest(exchange.edge, url)
    if (tile !== undefined) return answerTilePath(exchange, tile)
    const operation = rest.join('/').toLowerCase()
    if (service?.type === 'MapServer' && OPERATIONS.has(rest[0]?.toLowerCase() ?? ''))
      return answerRefusal(exchange, NOT_OFFERED)
    const format = formatOf(exchange.query)
    if (format === null) return answerRefusal(exchange, OTHER_FORMAT)
    const text = (document: object) => JSON.stringify(document, null, format === 'json' ? 0 : 2)
    if (room === 'rest/services' && isWhole) return answerServices(exchange, reader)
    if (room === 'rest/info' && isWhole)
      return answerOf(exchange, reader, serverInfo, JSON_TYPE, `esri info ${format}`, () => text(serverInfo()))
    if (service === null) return answerRefusal(exchange, NOT_FOUND)
    const { layer } = service
    if (refuseUndrawn(exchange, layer)) return
    const seen = withinArea(layer, reader.area)
    if (seen === null) return answerRefusal(exchange, OUTSIDE_AREA)
    if (service.kind === 'style') return answerStyleService(exchange, reader, service, seen, operation, text)
    if (service.type === 'MapServer' && rest[0]?.toLowerCase() === 'tilemap')
      return answerTilemap(exchange, layer, rest.slice(1))
    const documents = service.type === 'MapServer' ? MAP_DOCUMENTS : VECTOR_DOCUMENTS
    const make = Object.hasOwn(documents, operation) ? documents[operation] : undefined
    if (make === undefined) return answerRefusal(exchange, NOT_FOUND)
    const name = `esri ${operation} ${format} ${reader.inserted === '' ? '' : 'token'}`
    answerOf(exchange, reader, layer, JSON_TYPE, name, () => text(make(seen, reader.addresses)))
  })
}

const OPEN: Ask = { ...ANY_TOKEN, isOpen: true }

/** Returns the request of an address below `/arcgis/`. A missing service is treated as a basemap. */
export function askArcgis(edge: Edge, url: string): Ask {
  const { room, isWhole, code, tile, service, wanted } = arcgisRequest(edge, url)
  if (service?.kind === 'vector' && tile !== undefined) return askVectorTile(edge, tile)
  // Esri's clients read how to authenticate before they have a token.
  if (room === 'rest/info' && isWhole) return OPEN
  if (code === '') return ANY_TOKEN
  if (service?.kind === 'picture' || service?.kind === 'basemap') return askLayer(edge, code, tile)
  if (service === null) return { wanted, signable: null, reach: { code, version: null } }
  return { wanted, signable: null, reach: (area) => withinArea(service.layer, area) !== null }
}

function answerServices(exchange: RequestContext, { token, inserted, area }: Reader): void {
  const { catalog } = exchange.edge.freshness
  const grants = `${grantKey(token.basemaps)} ${grantKey(token.vectors)}`
  answerDocument(exchange, {
    of: catalog,
    key: `esri services ${inserted === '' ? '' : 'token'} ${grants}${areaKey(area)}`,
    grows: true,
    contentType: JSON_TYPE,
    inserted,
    text: () => serviceListPieces(readableServices(catalog, token, exchange.edge.pictures.available)),
  })
}

/** Answers for a style, whose documents depend on the tiles that it draws, and on the fonts. */
function answerStyleService(
  exchange: RequestContext,
  reader: Reader,
  { style }: Extract<EsriService, { kind: 'style' }>,
  layer: Layer,
  operation: string,
  text: (document: object) => string,
) {
  const { catalog } = exchange.edge.freshness
  const { addresses, inserted } = reader
  const makers: Readonly<Record<string, () => object>> = {
    '': () => styleServer(layer, addresses),
    'resources/styles': () => styleRoot(catalog, style, addresses, stylePlaces(exchange, inserted !== '')),
  }
  const make = makers[operation.replace(/\/root\.json$/, '')]
  if (make === undefined) return answerRefusal(exchange, NOT_FOUND)
  const name = `esri style ${style.stored.code} ${operation} ${inserted === '' ? '' : 'token'} ${exchange.edge.styleAssets.revisionOf(catalog)}`
  answerOf(exchange, reader, catalog, JSON_TYPE, name, () => text(make()))
}

/** The address of `tile/{level}/{row}/{column}`, which ends in `.pbf` for vector tiles; undefined: no tile. */
function tilePathAt({ kind, type, layer }: EsriService, rest: readonly string[]): string | undefined {
  const [word = '', level = '', row = '', column = '', ...more] = rest
  if (word.toLowerCase() !== 'tile' || rest.length !== 4 || more.length > 0) return undefined
  if (kind === 'style') return undefined
  const isVector = type === 'VectorTileServer'
  if (isVector && !/\.pbf$/i.test(column)) return undefined
  const x = isVector ? column.slice(0, -'.pbf'.length) : column
  const place = [level, x, `${row}.${layer.format}`].map(encodeURIComponent).join('/')
  return kind === 'vector' ? `${vectorPath(layer.code)}/tiles/${place}` : tilePath(layer, place)
}

/** Returns the requested format of a document, or null if the format is not supported. For a page (`html`) the JSON is indented. */
function formatOf(query: string): 'json' | 'pjson' | null {
  for (const [name, value] of new URLSearchParams(query)) {
    if (name.toLowerCase() !== 'f') continue
    const format = value.toLowerCase()
    if (format === 'json' || format === '') return 'json'
    return format === 'pjson' || format === 'html' ? 'pjson' : null
  }
  return 'json'
}
