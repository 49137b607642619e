import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { decide } from '@gateway/access/decide.js'
import { TOKEN_MALFORMED } from '@gateway/access/presented-token.js'
import { isTokenWellFormed } from '@gateway/access/token-format.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import { quickToken } from '../access/quick-token.js'
import type { Edge } from '../edge.js'
import { logAnswer } from './exchange.js'
import { countRefusal, prepareRefusal } from './refusals.js'
import { parseTilePath } from './tile-path.js'
import { wantedBasemap } from './tiles.js'

/**
 * Refuses a GET below `/tiles/` whose token is known to be of no use for it: mistyped, nobody's, disabled, expired, not granted. A client
 * with a withdrawn token asks as often as a map does, and a scanner more often, so this costs as little as a tile out of memory. false:
 * nothing has been written, and the long way decides.
 */
export function answerKnownRefusal(edge: Edge, res: HttpResponse, req: HttpRequest): boolean {
  if (edge.draining) return false
  const query = req.getQuery() ?? ''
  const plaintext = quickToken(req.getHeader('authorization'), req.getHeader('x-access-token'), query)
  if (plaintext === '') return false
  const path = req.getUrl()
  const refusal = knownRefusal(edge, plaintext, path)
  if (refusal === null) return false
  const { status, headers, body } = prepareRefusal(refusal)
  countRefusal(edge, refusal)
  res.writeStatus(status).writeHeader(headers.name, headers.value).end(body)
  edge.counters.bytesSent += body.length
  logAnswer(edge, { path, query, status: Number.parseInt(status, 10), ms: 0 })
  return true
}

function knownRefusal(edge: Edge, plaintext: string, path: string): Refusal | null {
  const token = edge.tokens.get(plaintext)
  if (token === undefined && isTokenWellFormed(plaintext)) return null
  const address = parseTilePath(path)
  if (address.kind === 'absent' || address.kind === 'undecodable') return null
  if (token === undefined) return TOKEN_MALFORMED
  const now = Date.now()
  if (!edge.freshness.loaded || now > edge.freshness.trustedUntilMs) return null
  edge.counters.tokenHits++
  if (token === null) edge.nativeHot.noteUnknown(plaintext)
  const decision = decide(token, wantedBasemap(edge, address.code), 'read', now)
  return decision.ok ? null : decision
}
