import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { takesEsri, takesTk } from '@gateway/core/access/presented-token.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import { headerBlock } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import { ANY_TOKEN, admit } from './authorize.js'
import { askOf } from './protocols.js'
import { answerRefusal } from './refusals.js'
import { RequestContext } from './request-context.js'
import { isDownload, TOKEN_PATH, tokenInQuery } from './token-path.js'

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
  // Only downloads have the form with the token in the path.
  const isServed = isPlain(path) && (!address.startsWith(TOKEN_PATH) || isDownload(path))
  const exchange = new RequestContext(edge, 'other', res, req, path, query)
  exchange.errorForm = 'auth'
  exchange.takesTk = takesTk(path)
  exchange.takesEsri = takesEsri(path)
  const ask = isServed ? askOf(edge, path, query) : null
  if (ask === null) return admit(exchange, ANY_TOKEN, () => answerRefusal(exchange, NOT_OURS))
  admit(exchange, ask, () => exchange.answer('200 OK', LET_IN, ''))
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
