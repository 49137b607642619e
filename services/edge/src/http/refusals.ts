import { STATUS_CODES } from 'node:http'
import { errorBody, type Refusal, refuse, STATUS_OF_ERROR } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { NOT_GRANTED, UNKNOWN_TOKEN } from '@gateway/core/access/decide.js'
import { challenge, isBasic, TOKEN_MALFORMED, TOKEN_MISSING } from '@gateway/core/access/presented-token.js'
import type { FixedAnswer, RefusedFor } from '@gateway/native-edge/hot-tiles/responses.js'
import { CORS, type Header, type HeaderBlock, headerBlock, SERVER_MARK } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import { esriError } from '../standards/esri-documents.js'
import { exceptionReport } from '../standards/ows-exception.js'
import {
  EXCEPTION_TYPE_OF_111,
  serviceExceptionReport,
  type WmsException,
  type WmsVersion,
  wmsException,
} from '../standards/wms-request.js'
import { answeredWith } from '../usage/usage-counts.js'
import type { RequestContext } from './request-context.js'

/** Retry-After while a dependency is down: roughly the time in seconds that a database takes to recover. */
const RETRY_AFTER_SECONDS = 5

export const NOT_FOUND = refuse('not_found', coded('address_not_found'))
export const NO_TILE_ADDRESS = refuse('not_found', coded('tile_addresses'))
export const MALFORMED_TILE = refuse('invalid_parameters', coded('tile_address_form'))
export const UNDECODABLE = refuse('invalid_parameters', coded('address_encoding'))
export const TOO_LONG = refuse('uri_too_long', coded('address_too_long'))
export const WRONG_METHOD = refuse('method_not_allowed', coded('methods_read'))
export const STORE_DOWN = refuse('dependency_down', coded('store_unreachable_again'))
export const STARTING = refuse('dependency_down', coded('edge_without_catalog'))
export const STOPPING = refuse('draining', coded('edge_stopping'))
export const DISK_BUSY = refuse('dependency_down', coded('disk_silent'))
export const STORAGE_DOWN = refuse('dependency_down', coded('object_storage_silent'))
export const OUT_OF_DESCRIPTORS = refuse('dependency_down', coded('files_full'))
export const INTERNAL = refuse('internal', coded('edge_failed'))

interface Prepared {
  readonly status: string
  readonly headers: HeaderBlock
  readonly body: Buffer
}

/** Most refusals are constants, so their bytes are prepared once. */
const prepared = new WeakMap<Refusal, Prepared>()
const preparedForBasic = new WeakMap<Refusal, Prepared>()

/** @param hasBasic the request has Basic credentials, so a 401 challenges for them */
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

export function answerRefusal(exchange: RequestContext, refusal: Refusal) {
  countRefusal(exchange.edge, refusal)
  exchange.answered = answeredWith(refusal.code)
  if (isMissingTile(refusal)) {
    const form = missingTileForm(exchange.query, exchange.header('sec-fetch-dest'), exchange.header('sec-fetch-mode'))
    const { status, headers, body } = refusal.forms[form]
    if (form === 'empty') return exchange.answerEmpty(status, headers)
    if (form === 'image' || exchange.errorForm === 'json') return exchange.answer(status, headers, body)
    if (exchange.errorForm === 'esri') return exchange.answer(status, headers, esriError(404, refusal.message))
  }
  if (exchange.errorForm === 'ows' && isOwsException(refusal)) return answerException(exchange, refusal)
  const wms = WMS_FORM.exec(exchange.errorForm)?.[1] as WmsVersion | undefined
  if (wms !== undefined && isOwsException(refusal)) {
    const status = STATUS_OF_ERROR[refusal.code] as 400 | 404
    return answerServiceException(exchange, wmsException(wms, null, refusal.message, status))
  }
  const refused = exchange.errorForm === 'auth' && STATUS_OF_ERROR[refusal.code] < 500 ? inOrOut(refusal) : refusal
  const { status, headers, body } = prepareRefusal(refused, isBasic(exchange.header('authorization')))
  const isEsri = exchange.errorForm === 'esri'
  exchange.answer(status, headers, isEsri ? esriError(esriCode(refusal), refusal.message) : body)
}

/** Returns the code of an error for Esri's clients, which ask for a token if it is one of two codes; otherwise the status. */
function esriCode({ code }: Refusal): number {
  const status = STATUS_OF_ERROR[code]
  if (status !== 401) return status
  return code === 'token_missing' ? TOKEN_REQUIRED : INVALID_TOKEN
}

const INVALID_TOKEN = 498
const TOKEN_REQUIRED = 499

/** Turns an error of the request itself, for example contradictory tokens, into 401. */
function inOrOut(refusal: Refusal): Refusal {
  const status = STATUS_OF_ERROR[refusal.code]
  return status === 400 || status === 431 ? { ...refusal, code: 'token_malformed' } : refusal
}

/** The refusal for a tile that does not exist, in each of the forms that clients may request. */
export interface MissingTile extends Refusal {
  readonly forms: Readonly<Record<'error' | 'empty' | 'image', Prepared>>
}

/** @param caching headers that control caching; the form depends on two headers of the request, which a cache must consider */
export function missingTile(said: CodedMessage, ...caching: readonly Header[]): MissingTile {
  const refusal = refuse('tile_not_found', said)
  const status = '404 Not Found'
  return {
    ...refusal,
    forms: {
      error: {
        status,
        headers: headerBlock(['Content-Type', 'application/json; charset=utf-8'], ...caching, ...CORS),
        body: Buffer.from(errorBody(refusal.message)),
      },
      empty: {
        status: '204 No Content',
        headers: headerBlock(...(caching as [Header, ...Header[]]), ...CORS),
        body: NOTHING,
      },
      image: { status, headers: headerBlock(['Content-Type', 'image/png'], ...caching, ...CORS), body: ONE_PIXEL },
    },
  }
}

function isMissingTile(refusal: Refusal): refusal is MissingTile {
  return refusal.code === 'tile_not_found'
}

export const NOTHING = Buffer.alloc(0)
/**
 * Body for an image element. If an image of another site turns out to be JSON, a browser reports an attack (Opaque Response Blocking of the
 * Fetch standard) instead of a missing tile. One transparent pixel.
 */
const ONE_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
)
/** Message for a missing tile inside the grid and the zooms of its set, of which nothing more is known. */
export const NO_SUCH_TILE = coded('tile_absent')
export const TILE_NOT_FOUND = missingTile(NO_SUCH_TILE, ['Cache-Control', 'no-store'])

/** Returns the refusals for a tile's address that the native table sends. If a missing tile may be cached, JavaScript refuses it. */
export function refusalsWithoutJavaScript(missingTileTtlSeconds: number): Partial<Record<RefusedFor, FixedAnswer>> {
  const refusals = {
    'no token': fixed(prepareRefusal(TOKEN_MISSING)),
    'a malformed token': fixed(prepareRefusal(TOKEN_MALFORMED)),
    'an unknown token': fixed(prepareRefusal(UNKNOWN_TOKEN)),
    'not granted': fixed(prepareRefusal(NOT_GRANTED)),
  }
  if (missingTileTtlSeconds > 0) return refusals
  const { error, image } = TILE_NOT_FOUND.forms
  return { ...refusals, 'no such tile': fixed(error), 'no such tile, as an image': fixed(image) }
}

/** Returns a refusal in the form of the native tier. */
export function fixed({ status, headers, body }: Prepared): FixedAnswer {
  return { status, headers: [[headers.name, headers.value], SERVER_MARK], body }
}

/** True if a client wants 204 for a tile or picture that does not exist: browsers list each 404 among the errors of a page. */
export function wantsEmpty(query: string): boolean {
  return query.includes('missing=') && new URLSearchParams(query).get('missing') === '204'
}

/** Returns the form in which a client wants to learn that a tile does not exist: by `missing=204`, or as an image for an element of a page. */
function missingTileForm(query: string, fetchDest: string, fetchMode: string): 'error' | 'empty' | 'image' {
  if (wantsEmpty(query)) return 'empty'
  return fetchDest === 'image' && fetchMode === 'no-cors' ? 'image' : 'error'
}

function isOwsException({ code }: Refusal): boolean {
  const status = STATUS_OF_ERROR[code]
  return status === 400 || status === 404
}

function answerException(exchange: RequestContext, { code, message }: Refusal): void {
  const status = STATUS_OF_ERROR[code]
  const report = exceptionReport({ code: 'NoApplicableCode', locator: null, text: message })
  exchange.answer(`${status} ${STATUS_CODES[status]}`, OWS_HEADERS, report)
}

const WMS_FORM = /^wms (.*)$/

/** Sends an error of a WMS, in the form of its version. */
export function answerServiceException(exchange: RequestContext, exception: WmsException): void {
  const headers = exception.version === '1.1.1' ? HEADERS_OF_111 : HEADERS_OF_130
  exchange.answer(`${exception.status} ${STATUS_CODES[exception.status]}`, headers, serviceExceptionReport(exception))
}

const HEADERS_OF_130 = headerBlock(['Content-Type', 'text/xml; charset=utf-8'], ['Cache-Control', 'no-store'], ...CORS)
const HEADERS_OF_111 = headerBlock(['Content-Type', EXCEPTION_TYPE_OF_111], ['Cache-Control', 'no-store'], ...CORS)

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
