import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { takesTk } from '@gateway/core/access/presented-token.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment, parseTileAddress, parseTilePath } from '@gateway/tilesets/address.js'
import type { Edge } from '../edge.js'
import { parseWmtsRequest } from '../standards/wmts-request.js'
import { arcgisRequest, isPlaced } from './arcgis.js'
import { authorize, type Wanted } from './authorize.js'
import type { Reach, Signable } from './authorize-signed.js'
import { vectorsAt } from './downloads.js'
import { isOfFeatures } from './features.js'
import { headerBlock } from './header-block.js'
import { answerRefusal } from './refusals.js'
import { RequestContext } from './request-context.js'
import {
  isTilesets,
  ogcRequest,
  reachOf,
  tmsRequest,
  vectorTilePlace,
  wantedCollection,
  wmtsTilePath,
} from './standards.js'
import { wantedStyle } from './styles.js'
import { tiandituRequest } from './tianditu.js'
import { wantedBasemap, wantedVector } from './tile-answer.js'
import { tokenInQuery } from './token-path.js'
import { vectorTileReach } from './vector-tiles.js'

export const FORWARD_AUTH_PATH = '/api/v1/forward-auth'

/** Headers in which proxies pass the requested address: nginx as configured, and Traefik. Envoy appends it to the path of this route. */
const ADDRESS_HEADERS: ReadonlySet<string> = new Set(['x-original-uri', 'x-forwarded-uri'])

const LET_IN = headerBlock(['Cache-Control', 'no-store'])
const NO_ADDRESS = refuse('invalid_parameters', coded('forward_auth_address'))
const NOT_OURS = refuse('resource_not_granted', coded('nothing_to_read'))

/**
 * Decides whether a proxy may answer a request for an address of the read interface, for example from its cache: 200, or 401 or 403 as this edge
 * would refuse it. A granted but missing resource gets 200: the edge then returns 404.
 */
export function onForwardAuth(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const address = addressOf(req)
  if (address === null) return answerRefusal(new RequestContext(edge, 'other', res, req), NO_ADDRESS)
  const question = address.indexOf('?')
  const { path, query } = tokenInQuery({
    path: question === -1 ? address : address.slice(0, question),
    query: question === -1 ? '' : address.slice(question + 1),
  })
  const exchange = new RequestContext(edge, 'other', res, req, path, query)
  exchange.errorForm = 'auth'
  exchange.takesTk = takesTk(path)
  const asked = isPlain(path) ? askedFor(edge, path, query) : null
  if (asked === null) return authorize(exchange, null, () => answerRefusal(exchange, NOT_OURS))
  const { wanted, signable = null, reach = signable } = asked
  authorize(exchange, wanted, () => exchange.answer('200 OK', LET_IN, ''), signable, reach)
}

/**
 * Returns the requested address, or null if it is missing or ambiguous: a client could add the header that its proxy does not set, and the two would
 * name different addresses.
 */
function addressOf(req: HttpRequest): string | null {
  const addresses = new Set<string>()
  const below = req.getUrl().slice(FORWARD_AUTH_PATH.length)
  const query = req.getQuery()
  if (below !== '') addresses.add(query ? `${below}?${query}` : below)
  req.forEach((name, value) => {
    if (ADDRESS_HEADERS.has(name)) addresses.add(value)
  })
  const [address = ''] = addresses
  return addresses.size === 1 && address.startsWith('/') ? address : null
}

/**
 * True if an address means the same to every server. Proxies resolve dots, merge slashes and decode before a look-up in their caches, and must find
 * the resource that was decided about.
 */
function isPlain(path: string): boolean {
  const segments = path.replace(/\/$/, '').slice(1).split('/')
  return segments.every((segment) => {
    const text = decodedSegment(segment)
    return text !== null && text !== '' && text !== '.' && text !== '..' && !/[/\\\0#]/.test(text)
  })
}

interface Asked {
  readonly wanted: Wanted
  readonly signable?: Signable
  /** Default: the resource that a signed URL opens. */
  readonly reach?: Reach | null
}

/** Returns null if the address is not one of the read interface. */
function askedFor(edge: Edge, path: string, query: string): Asked | null {
  const [room = '', ...rest] = path
    .replace(/\/$/, '')
    .slice(1)
    .split('/')
    .map((segment) => decodedSegment(segment) ?? '')
  const [first = '', second = '', ...more] = rest
  switch (room) {
    case 'tiles': {
      if (rest.length === 2 && second === 'style.json')
        return { wanted: wantedBasemap(edge, first), signable: { code: first, version: null } }
      const tile = parseTilePath(path)
      if (tile.kind !== 'tile' && tile.kind !== 'tilejson') return null
      return { wanted: wantedBasemap(edge, tile.code), signable: tile }
    }
    case 'archives': {
      if (rest.length !== 2) return null
      const version = second.slice(0, Math.max(0, second.lastIndexOf('.')))
      return { wanted: wantedBasemap(edge, first), signable: { code: first, version, whole: true } }
    }
    case 'styles': {
      if (rest.length < 2) return null
      const opens = second === 'style.json' && more.length === 0 ? 'style' : 'sprite'
      return { wanted: wantedStyle(edge, first), signable: { opens, code: first, version: null } }
    }
    case 'fonts':
      return rest.length === 2 ? { wanted: null, signable: { opens: 'glyphs', code: '', version: null } } : null
    case 'vectors': {
      const ofStyle = { opens: 'vector', code: first, version: null } as const
      if (rest.length === 2 && second === 'style.json') return { wanted: wantedVector(edge, first), signable: ofStyle }
      if (rest.length === 2 && second === 'download') return { wanted: wantedVector(edge, first) }
      if (rest.length === 2 && second === 'tilejson.json')
        return { wanted: wantedVector(edge, first), signable: ofStyle, reach: 'cut' }
      if (rest.length === 5 && second === 'tiles') {
        const [z = '', x = '', file = ''] = more
        return { wanted: wantedVector(edge, first), signable: vectorTileReach(first, parseTileAddress(z, x, file)) }
      }
      const dot = first.lastIndexOf('.')
      return rest.length === 1 && dot > 0 ? { wanted: wantedVector(edge, first.slice(0, dot)) } : null
    }
    case 'geojson':
    case 'shp':
      return { wanted: vectorsAt(edge, room === 'shp' ? 'shapefile' : 'geojson', rest.join('/')).wanted }
    case 'wmts': {
      const request = parseWmtsRequest(query)
      if (rest.length > 0 || request.kind !== 'tile') return { wanted: null }
      return { wanted: wantedBasemap(edge, request.layer), reach: reachOf(wmtsTilePath(edge, request), request.layer) }
    }
    case 'tms': {
      if (second === '') return { wanted: null }
      return { wanted: wantedBasemap(edge, second), reach: reachOf(tmsRequest(edge, path, query).tile, second) }
    }
    case 'ogc': {
      if (first !== 'collections' || second === '') return { wanted: null }
      return ofCollection(edge, path, second)
    }
    case 'arcgis':
    case 'ArcGIS': {
      const { code, tile, service, wanted } = arcgisRequest(edge, path)
      if (service?.kind === 'vector' && tile !== undefined) {
        const [z = '', x = '', file = ''] = tile.split('/').slice(-3)
        return { wanted, signable: vectorTileReach(code, parseTileAddress(z, x, file)) }
      }
      return { wanted, reach: isPlaced(service, code) ? reachOf(tile, code) : 'cut' }
    }
    case 'tianditu': {
      const { place, tile } = tiandituRequest(edge, path, query)
      return place === null ? null : { wanted: wantedBasemap(edge, place.code), reach: reachOf(tile, place.code) }
    }
    case 'api': {
      const [kind = '', code = '', ...beyond] = more
      if (first !== 'v1' || second !== 'catalog' || beyond.length > 0) return null
      if (kind === 'basemaps') return { wanted: code === '' ? null : wantedBasemap(edge, code), reach: 'cut' }
      if (kind === 'styles') return { wanted: code === '' ? null : wantedStyle(edge, code), reach: 'cut' }
      return kind === 'vectors' ? { wanted: code === '' ? null : wantedVector(edge, code), reach: 'cut' } : null
    }
    default:
      return null
  }
}

/**
 * Returns the resource of an address below a collection. Features and their tiles belong to the vector; the document of the collection belongs to
 * both.
 */
function ofCollection(edge: Edge, path: string, code: string) {
  const { rest, tile, layer, path: tiles } = ogcRequest(edge, path)
  if (isOfFeatures(rest)) return { wanted: wantedVector(edge, code), reach: 'cut' as const }
  const place = layer === null || tiles === null ? vectorTilePlace(rest) : null
  if (place !== null)
    return { wanted: wantedVector(edge, code), reach: vectorTileReach(code, parseTileAddress(...place)) }
  const ofVector = (layer === null || tiles === null) && edge.freshness.catalog.vectors.has(code) && isTilesets(rest)
  if (ofVector) return { wanted: wantedVector(edge, code), reach: 'cut' as const }
  return {
    wanted: rest.length === 0 ? wantedCollection(edge, code) : wantedBasemap(edge, code),
    reach: reachOf(tile, code),
  }
}
