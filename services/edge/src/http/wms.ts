import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { areaKey, grantKey } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { wmsCapabilitiesPieces } from '../standards/wms-capabilities.js'
import { drawnGroups, wantedLayer, wantedVectorLayer } from '../standards/wms-layers.js'
import { parseWmsRequest, TYPE_OF_111, type WmsRequest, type WmsVersion } from '../standards/wms-request.js'
import { ANY_TOKEN, type Ask } from './authorize.js'
import { answerDocument } from './document.js'
import { answerServiceException } from './refusals.js'
import { RequestContext } from './request-context.js'
import { type Reader, withReader } from './standards.js'
import { answerFeatureInfo } from './wms-info.js'
import { answerMap } from './wms-map.js'

/** Handles WMS 1.3.0 and 1.1.1: `/wms?...`. */
export function onWms(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const request = parseWmsRequest(req.getQuery() ?? '')
  const exchange = new RequestContext(edge, request.kind === 'info' ? 'catalog' : 'tile', res, req)
  exchange.errorForm = `wms ${request.version}`
  withReader(exchange, askOf(edge, request), (reader) => {
    switch (request.kind) {
      case 'capabilities':
        return answerCapabilities(exchange, reader, request.version)
      case 'map':
        return answerMap(exchange, request)
      case 'info':
        return answerFeatureInfo(exchange, request)
      case 'exception':
        return answerServiceException(exchange, request)
    }
  })
}

/** Returns the request of `/wms`. */
export function askWms(edge: Edge, _: string, query: string): Ask {
  return askOf(edge, parseWmsRequest(query))
}

/** A picture needs the grants of all its layers, and is cut to the area of a token. */
function askOf({ freshness: { catalog } }: Edge, request: WmsRequest): Ask {
  if (request.kind !== 'map' && request.kind !== 'info') return ANY_TOKEN
  const wanted = request.layers.map((name) => wantedLayer(catalog, name))
  const queried = request.kind === 'info' ? request.queried.map((name) => wantedVectorLayer(catalog, name)) : []
  return { wanted: { kind: 'all', of: [...wanted, ...queried] }, signable: null, reach: 'cut' }
}

function answerCapabilities(
  exchange: RequestContext,
  { token, addresses, inserted, area }: Reader,
  version: WmsVersion,
): void {
  const { settings, freshness, pictures } = exchange.edge
  const { catalog } = freshness
  const grants = `${grantKey(token.basemaps)} ${grantKey(token.vectors)}`
  answerDocument(exchange, {
    of: catalog,
    key: `wms ${version} ${inserted === '' ? '' : 'token'} ${grants}${areaKey(area)}`,
    grows: true,
    contentType: version === '1.1.1' ? TYPE_OF_111 : 'text/xml; charset=utf-8',
    inserted,
    text: () => wmsCapabilitiesPieces(version, drawnGroups(catalog, token, pictures.available), addresses, settings),
  })
}
