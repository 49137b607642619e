import { STATUS_CODES } from 'node:http'
import { UNKNOWN_TOKEN } from '@gateway/access/decide.js'
import { challenge, isBasic, TOKEN_MALFORMED, TOKEN_MISSING } from '@gateway/access/presented-token.js'
import { errorBody, type Refusal, refuse, STATUS_OF_ERROR } from '@gateway/contracts/errors.js'
import type { FixedAnswer, RefusedFor } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { Edge } from '../edge.js'
import { exceptionReport } from '../standards/ows-exception.js'
import type { Exchange } from './exchange.js'
import { CORS, type HeaderBlock, headerBlock, SERVER_MARK } from './header-block.js'

/** Retry-After where a dependency is down: about what a database takes to come back. */
const RETRY_AFTER_SECONDS = 5

export const NOT_FOUND = refuse('not_found', 'there is nothing at this address')
export const TILE_NOT_FOUND = refuse('tile_not_found', 'there is no such tile')
export const MALFORMED_TILE = refuse(
  'invalid_parameters',
  'a tile address ends in {z}/{x}/{y}.{ext}, whole numbers without leading zeros',
)
export const UNDECODABLE = refuse('invalid_parameters', 'the address is not correctly percent-encoded')
export const TOO_LONG = refuse('uri_too_long', 'the address is too long')
export const WRONG_METHOD = refuse('method_not_allowed', 'only GET, HEAD and OPTIONS are answered here')
export const STORE_DOWN = refuse('dependency_down', 'the store is out of reach; please try again')
export const STARTING = refuse('dependency_down', 'the edge has not read its catalog yet; please try again')
export const STOPPING = refuse('draining', 'the edge is stopping')
export const DISK_BUSY = refuse('dependency_down', 'the disk that this is on does not answer; please try again')
export const STORAGE_DOWN = refuse(
  'dependency_down',
  'the object storage that this is in does not answer; please try again',
)
export const OUT_OF_DESCRIPTORS = refuse('dependency_down', 'too many files and connections are open; please try again')
export const INTERNAL = refuse('internal', 'something went wrong; the log of the edge tells more')

interface Prepared {
  readonly status: string
  readonly headers: HeaderBlock
  readonly body: Buffer
}

/** Refusals are constants for the most part: their bytes are made once each. */
const prepared = new WeakMap<Refusal, Prepared>()
const preparedForBasic = new WeakMap<Refusal, Prepared>()

/** @param hasBasic the request carried Basic credentials: a 401 then asks for such */
export function prepareRefusal(refusal: Refusal, hasBasic = false): Prepared {
  const cache = hasBasic ? preparedForBasic : prepared
  const known = cache.get(refusal)
  if (known !== undefined) return known
  const status = STATUS_OF_ERROR[refusal.code]
  const made = {
    status: `${status} ${STATUS_CODES[status]}`,
    headers: headerBlock(
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Cache-Control', 'no-store'],
      ...extraHeaders(refusal, status, hasBasic),
      ...CORS,
    ),
    body: Buffer.from(errorBody(refusal.message)),
  }
  cache.set(refusal, made)
  return made
}

export function answerRefusal(exchange: Exchange, refusal: Refusal) {
  countRefusal(exchange.edge, refusal)
  exchange.answered = refusal === TILE_NOT_FOUND ? 'tile_404' : null
  if (refusal === TILE_NOT_FOUND) {
    const form = missingTileForm(exchange.query, exchange.header('sec-fetch-dest'), exchange.header('sec-fetch-mode'))
    if (form === 'empty') return exchange.answerEmpty(NO_CONTENT, MISSING_HEADERS)
    if (form === 'image')
      return exchange.answer(prepareRefusal(refusal).status, MISSING_IMAGE.headers, MISSING_IMAGE.body)
  }
  if (exchange.errorForm === 'ows' && isOwsException(refusal)) return answerException(exchange, refusal)
  const { status, headers, body } = prepareRefusal(refusal, isBasic(exchange.header('authorization')))
  exchange.answer(status, headers, body)
}

export const NO_CONTENT = '204 No Content'
export const MISSING_HEADERS = headerBlock(['Cache-Control', 'no-store'], ...CORS)

/**
 * What a browser takes for an image: where an image of another site turns out to be JSON it reports an attack (Opaque Response Blocking of the
 * Fetch standard) instead of an absent tile. One transparent pixel.
 */
export const MISSING_IMAGE: Pick<Prepared, 'headers' | 'body'> = {
  headers: headerBlock(['Content-Type', 'image/png'], ['Cache-Control', 'no-store'], ...CORS),
  body: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
    'base64',
  ),
}

/** What is answered to a tile's address in these cases, for the native table. */
export const REFUSALS_WITHOUT_JAVASCRIPT: Readonly<Record<RefusedFor, FixedAnswer>> = {
  'no token': fixed(TOKEN_MISSING),
  'a malformed token': fixed(TOKEN_MALFORMED),
  'an unknown token': fixed(UNKNOWN_TOKEN),
  'no such tile': fixed(TILE_NOT_FOUND),
  'no such tile, as an image': fixed(TILE_NOT_FOUND, MISSING_IMAGE),
}

function fixed(refusal: Refusal, form?: Pick<Prepared, 'headers' | 'body'>): FixedAnswer {
  const { status, headers, body } = { ...prepareRefusal(refusal), ...form }
  return { status, headers: [[headers.name, headers.value], SERVER_MARK], body }
}

/** How a client wants to hear that a tile does not exist: by `missing=204`, or as the image that a page has an element for. */
export function missingTileForm(query: string, fetchDest: string, fetchMode: string): 'error' | 'empty' | 'image' {
  if (query.includes('missing=') && new URLSearchParams(query).get('missing') === '204') return 'empty'
  return fetchDest === 'image' && fetchMode === 'no-cors' ? 'image' : 'error'
}

function isOwsException({ code }: Refusal): boolean {
  const status = STATUS_OF_ERROR[code]
  return status === 400 || status === 404
}

function answerException(exchange: Exchange, { code, message }: Refusal): void {
  const status = STATUS_OF_ERROR[code]
  const report = exceptionReport({ code: 'NoApplicableCode', locator: null, text: message })
  exchange.answer(`${status} ${STATUS_CODES[status]}`, OWS_HEADERS, report)
}

const OWS_HEADERS = headerBlock(
  ['Content-Type', 'application/xml; charset=utf-8'],
  ['Cache-Control', 'no-store'],
  ...CORS,
)

export function countRefusal(edge: Edge, refusal: Refusal): void {
  edge.counters.countRefusal(refusal.code)
  if (refusal.code === 'tile_not_found') edge.counters.missingTiles++
  if (refusal === DISK_BUSY) edge.counters.diskRefusals++
}

function extraHeaders({ code, retryAfterSeconds }: Refusal, status: number, hasBasic: boolean): [string, string][] {
  if (status === 401) return [['WWW-Authenticate', challenge(hasBasic)]]
  const retryAfter = retryAfterSeconds ?? (status === 503 ? RETRY_AFTER_SECONDS : null)
  if (retryAfter !== null) return [['Retry-After', String(retryAfter)]]
  if (code === 'method_not_allowed') return [['Allow', 'GET, HEAD, OPTIONS']]
  return []
}
