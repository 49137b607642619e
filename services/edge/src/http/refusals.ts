import { STATUS_CODES } from 'node:http'
import { UNKNOWN_TOKEN } from '@gateway/access/decide.js'
import { TOKEN_MALFORMED, TOKEN_MISSING } from '@gateway/access/presented-token.js'
import { type ErrorCode, errorBody, type Refusal, refuse, STATUS_OF_ERROR } from '@gateway/contracts/errors.js'
import type { FixedAnswer, RefusedFor } from '@gateway/sendfile/hot-table.js'
import type { Edge } from '../edge.js'
import type { Exchange } from './exchange.js'
import { CORS, type HeaderBlock, headerBlock, SERVER_MARK } from './header-block.js'

/** How long a caller is told to wait where a dependency is down: about what a database takes to come back. */
const RETRY_AFTER_SECONDS = 5

/** The scheme of service tokens (RFC 6750); a browser asks nobody for a password because of it. */
const CHALLENGE = 'Bearer realm="map asset gateway"'

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
export const DISK_BUSY = refuse('dependency_down', 'the disk that this is on does not answer; please try again')
export const OUT_OF_DESCRIPTORS = refuse('dependency_down', 'too many files and connections are open; please try again')
export const INTERNAL = refuse('internal', 'something went wrong; the log of the edge tells more')

interface Prepared {
  readonly status: string
  readonly headers: HeaderBlock
  readonly body: Buffer
}

/** Refusals are constants for the most part: their bytes are made once each. */
const prepared = new WeakMap<Refusal, Prepared>()

export function prepareRefusal(refusal: Refusal): Prepared {
  const known = prepared.get(refusal)
  if (known !== undefined) return known
  const status = STATUS_OF_ERROR[refusal.code]
  const made = {
    status: `${status} ${STATUS_CODES[status]}`,
    headers: headerBlock(
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Cache-Control', 'no-store'],
      ...extraHeaders(refusal.code, status),
      ...CORS,
    ),
    body: Buffer.from(errorBody(refusal.message)),
  }
  prepared.set(refusal, made)
  return made
}

/** What `authorize` answers to a tile's address in these cases, for those who answer it without JavaScript. */
export const REFUSALS_WITHOUT_JAVASCRIPT: Readonly<Record<RefusedFor, FixedAnswer>> = {
  'no token': fixed(TOKEN_MISSING),
  'a malformed token': fixed(TOKEN_MALFORMED),
  'an unknown token': fixed(UNKNOWN_TOKEN),
}

function fixed(refusal: Refusal): FixedAnswer {
  const { status, headers, body } = prepareRefusal(refusal)
  return { status, headers: [[headers.name, headers.value], SERVER_MARK], body }
}

export function answerRefusal(exchange: Exchange, refusal: Refusal): void {
  const { status, headers, body } = prepareRefusal(refusal)
  countRefusal(exchange.edge, refusal)
  exchange.answer(status, headers, body)
}

export function countRefusal(edge: Edge, refusal: Refusal): void {
  edge.counters.countRefusal(refusal.code)
  if (refusal.code === 'tile_not_found') edge.counters.missingTiles++
  if (refusal === DISK_BUSY) edge.counters.diskRefusals++
}

function extraHeaders(code: ErrorCode, status: number): [string, string][] {
  if (status === 401) return [['WWW-Authenticate', CHALLENGE]]
  if (status === 503) return [['Retry-After', String(RETRY_AFTER_SECONDS)]]
  if (code === 'method_not_allowed') return [['Allow', 'GET, HEAD, OPTIONS']]
  return []
}
