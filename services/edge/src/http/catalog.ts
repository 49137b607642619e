import type { Refusal } from '@gateway/contracts/errors.js'
import type { AccessToken, WantedResource } from '@gateway/core/access/decide.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Listed, ReaderEntry } from '@gateway/store/catalog/reader-answers.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import {
  BASEMAPS,
  type CatalogAnswer,
  type CatalogKind,
  catalogEntry,
  catalogList,
  STYLES,
  VECTORS,
} from '../catalog/answers.js'
import type { Edge } from '../edge.js'
import { authorize } from './authorize.js'
import { answerDocument } from './document.js'
import { onOther } from './proxy.js'
import { answerRefusal, UNDECODABLE } from './refusals.js'
import { type Handler, RequestContext } from './request-context.js'

/**
 * Routes of the read interface of the catalog, served from this process's snapshot: each address with the handlers of its list and of
 * one entry.
 */
export const CATALOG_ROUTES: readonly (readonly [path: string, list: Handler, entry: Handler])[] = [
  ['/api/v1/catalog/basemaps', listOf(BASEMAPS), entryOf(BASEMAPS)],
  ['/api/v1/catalog/vectors', listOf(VECTORS), entryOf(VECTORS)],
  ['/api/v1/catalog/styles', listOf(STYLES), entryOf(STYLES)],
]

function listOf<Stored extends Listed, Entry extends ReaderEntry<Stored>>(kind: CatalogKind<Stored, Entry>): Handler {
  return (edge, res, req) => {
    answer(edge, res, req, null, ({ edge: own, query }, token) =>
      catalogList(kind, own.freshness.catalog, token, query, own.settings),
    )
  }
}

function entryOf<Stored extends Listed, Entry extends ReaderEntry<Stored>>(kind: CatalogKind<Stored, Entry>): Handler {
  return (edge, res, req) => {
    const segment = req.getParameter(0) ?? ''
    // Not an address of the catalog; the control plane returns 404.
    if (segment === '') return onOther(edge, res, req)
    const code = decodedSegment(segment)
    if (code === null) {
      edge.counters.requests++
      return answerRefusal(new RequestContext(edge, 'catalog', res, req), UNDECODABLE)
    }
    const wanted = kind.entries(edge.freshness.catalog).get(code)?.wanted ?? kind.list.wantedByCode(code)
    answer(edge, res, req, wanted, ({ edge: own, area }) =>
      catalogEntry(kind, own.freshness.catalog, code, own.settings, area),
    )
  }
}

function answer(
  edge: Edge,
  res: HttpResponse,
  req: HttpRequest,
  wanted: WantedResource,
  make: (exchange: RequestContext, token: AccessToken) => CatalogAnswer | Refusal,
): void {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'catalog', res, req)
  const admitted = (_fromQuery: boolean, _which: number, token: AccessToken) => {
    const made = make(exchange, token)
    if ('ok' in made) answerRefusal(exchange, made)
    else
      answerDocument(exchange, {
        ...made,
        contentType: 'application/json; charset=utf-8',
      })
  }
  authorize(exchange, wanted, admitted, null, 'cut')
}
