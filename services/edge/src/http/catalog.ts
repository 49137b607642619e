import type { Bounds } from '@gateway/contracts/basemap.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { isWithin, type Listed, type ReaderEntry } from '@gateway/store/catalog/reader-answers.js'
import { basemapWithin } from '@gateway/store/catalog/within-area.js'
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
import { ANY_TOKEN, type Ask, admit } from './authorize.js'
import { answerDocument } from './document.js'
import { onOther } from './proxy.js'
import { answerRefusal, UNDECODABLE } from './refusals.js'
import { type Handler, RequestContext } from './request-context.js'

/** Handlers of the list and of one entry of a kind, and the request of an entry. */
export interface CatalogRoutes {
  readonly onList: Handler
  readonly onEntry: Handler
  askEntry(edge: Edge, path: string): Ask | null
}

/** Routes of the read interface of the catalog, served from this process's snapshot. */
export const ON_BASEMAPS = routesOf(BASEMAPS)
export const ON_VECTORS = routesOf(VECTORS)
export const ON_STYLES = routesOf(STYLES)

function routesOf<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  kind: CatalogKind<Stored, Entry>,
): CatalogRoutes {
  const askEntry = (edge: Edge, path: string): Ask | null => {
    const segment = path.slice(path.lastIndexOf('/') + 1)
    // Not an address of the catalog; the control plane returns 404.
    if (segment === '') return null
    const code = decodedSegment(segment)
    if (code === null) return ANY_TOKEN
    const { catalog } = edge.freshness
    const entry = kind.entries(catalog).get(code)
    const reach = (area: Bounds) => entry === undefined || isWithin(kind, entry, edge.settings, area)
    return { wanted: entry?.wanted ?? kind.list.wantedByCode(code), signable: null, reach }
  }
  return {
    askEntry,
    onList: (edge, res, req) =>
      answer(edge, res, req, ANY_TOKEN, ({ edge: own, query }, token) =>
        catalogList(kind, own.freshness.catalog, token, query, own.settings),
      ),
    onEntry: (edge, res, req) => {
      const ask = askEntry(edge, req.getUrl())
      if (ask === null) return onOther(edge, res, req)
      const code = decodedSegment(req.getParameter(0) ?? '')
      // Malformed for every caller, so it is refused before the token is judged, as the control plane does.
      if (code === null) return refuseUndecodable(edge, res, req)
      answer(edge, res, req, ask, ({ edge: own, area }) =>
        catalogEntry(kind, own.freshness.catalog, code, own.settings, area),
      )
    },
  }
}

function refuseUndecodable(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  answerRefusal(new RequestContext(edge, 'catalog', res, req), UNDECODABLE)
}

function answer(
  edge: Edge,
  res: HttpResponse,
  req: HttpRequest,
  ask: Ask,
  make: (exchange: RequestContext, token: AccessToken) => CatalogAnswer | Refusal,
): void {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'catalog', res, req)
  const admitted = (_fromQuery: boolean, _which: number, token: AccessToken) => {
    const made = make(exchange, token)
    if ('ok' in made) answerRefusal(exchange, made)
    else answerDocument(exchange, { ...made, contentType: 'application/json; charset=utf-8' })
  }
  admit(exchange, ask, admitted)
}

/** The control plane serves these addresses, and decides by the same rules. */
export function askChanges(edge: Edge, path: string): Ask | null {
  const ask = askArchives(edge, path)
  if (ask === null) return null
  return { ...ask, reach: (area) => isBasemapWithin(edge, codeOf(path), area) }
}

/** A whole version cannot be cut to the bounds of a token. */
export function askArchives(_: Edge, path: string): Ask | null {
  const code = codeOf(path)
  return code === null ? null : { wanted: { kind: 'basemap', code }, signable: null, reach: null }
}

function codeOf(path: string): string | null {
  return decodedSegment(path.split('/')[5] ?? '')
}

function isBasemapWithin({ freshness }: Edge, code: string | null, area: Bounds): boolean {
  const basemap = freshness.catalog.basemaps.get(code ?? '')
  return basemap === undefined || basemapWithin(basemap.stored, area) !== null
}
