import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import type { Layer } from '../standards/layer.js'
import {
  isInTianditu,
  plainTileRequest,
  type TiandituPlace,
  tiandituCapabilities,
  tiandituPlace,
} from '../standards/tianditu.js'
import { parseWmtsRequest, tilePathOf } from '../standards/wmts-request.js'
import { Exchange } from './exchange.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { answerException, answerOf, answerTilePath, layerAt, withReader, XML } from './standards.js'
import { wantedBasemap } from './tile-answer.js'

/** Tianditu's requests: `/tianditu/{code}_{w|c}/wmts?...&tk={token}`, one layer in one set at each address. */
export function onTianditu(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const place = tiandituPlace(req.getUrl())
  const layer = place === null ? null : layerOfPlace(edge, place)
  const request = parseWmtsRequest(req.getQuery() ?? '')
  const plain =
    place !== null && layer !== null && request.kind === 'tile' ? plainTileRequest(request, layer, place.set) : request
  const tile = layer !== null && plain.kind === 'tile' ? tilePathOf(plain, layer) : undefined
  const exchange = new Exchange(edge, 'tile', res, req, tile)
  exchange.errorForm = 'ows'
  exchange.takesTk = true
  withReader(exchange, place === null ? null : wantedBasemap(edge, place.code), (reader) => {
    if (place === null || layer === null) return answerRefusal(exchange, NOT_FOUND)
    if (plain.kind === 'exception') return answerException(exchange, plain)
    if (plain.kind === 'tile') return answerTilePath(exchange)
    const key = `tianditu ${place.set}`
    answerOf(exchange, reader, layer, XML, key, () => tiandituCapabilities(layer, reader.addresses, place.set))
  })
}

function layerOfPlace(edge: Edge, { code, set }: TiandituPlace): Layer | null {
  const layer = layerAt(edge, code)
  return layer !== null && isInTianditu(layer, set) ? layer : null
}
