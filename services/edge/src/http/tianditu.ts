import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import { type Layer, withinArea } from '../standards/layer.js'
import {
  isInTianditu,
  parseTiandituRequest,
  plainTileRequest,
  type TiandituPlace,
  tiandituCapabilities,
  tiandituPlace,
} from '../standards/tianditu.js'
import { noSuchLayer, tilePathOf } from '../standards/wmts-request.js'
import { ANY_TOKEN, type Ask } from './authorize.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { answerTilePath, askLayer, layerAt, refuseUndrawn } from './layers.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { RequestContext } from './request-context.js'
import { answerException, answerOf, withReader, XML } from './standards.js'

/** Parses an address below `/tianditu`. `tile` is the tile route's address, or undefined if it names no tile of a layer. */
function tiandituRequest(edge: Edge, url: string, query: string) {
  const place = tiandituPlace(url)
  const layer = place === null ? null : layerOfPlace(edge, place)
  const asked = place === null ? noSuchLayer() : parseTiandituRequest(place, query)
  const request =
    place !== null && layer !== null && asked.kind === 'tile' ? plainTileRequest(asked, layer, place.set) : asked
  const tile = layer !== null && request.kind === 'tile' ? tilePathOf(request, layer) : undefined
  return { place, layer, request, tile }
}

/** Handles Tianditu's requests: `/tianditu/{code}_{w|c}/{wmts|DataServer}?...&tk={token}`, one layer in one set at each address. */
export function onTianditu(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const [url, query] = [req.getUrl(), req.getQuery() ?? '']
  const { place, tile: asked } = tiandituRequest(edge, url, query)
  const exchange = new RequestContext(edge, 'tile', res, req, asked)
  exchange.errorForm = 'ows'
  exchange.takesTk = true
  withReader(exchange, askTianditu(edge, url, query), (reader) => {
    const { layer, request, tile } = tiandituRequest(exchange.edge, url, query)
    if (place === null || layer === null) return answerRefusal(exchange, NOT_FOUND)
    if (refuseUndrawn(exchange, layer)) return
    if (request.kind === 'exception') return answerException(exchange, request)
    if (request.kind === 'tile') return answerTilePath(exchange, tile)
    const seen = withinArea(layer, reader.area)
    if (seen === null) return answerRefusal(exchange, OUTSIDE_AREA)
    const key = `tianditu ${place.set}`
    const text = () => tiandituCapabilities(seen, reader.addresses, exchange.edge.settings, place.set)
    answerOf(exchange, reader, layer, XML, key, text)
  })
}

export function askTianditu(edge: Edge, url: string, query: string): Ask {
  const { place, tile } = tiandituRequest(edge, url, query)
  if (place === null) return ANY_TOKEN
  return askLayer(edge, place.code, tile)
}

function layerOfPlace(edge: Edge, { code, set }: TiandituPlace): Layer | null {
  const layer = layerAt(edge, code)
  return layer !== null && isInTianditu(layer, set) ? layer : null
}
