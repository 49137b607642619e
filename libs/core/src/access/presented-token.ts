import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { credentialHint } from './credential-hints.js'
import { isTokenWellFormed, TOKEN_MARK } from './token-format.js'

/** The places where one request may carry its service token. An absent header is an empty string or undefined. */
export interface PresentedCredentials {
  readonly authorization: string | undefined
  readonly xAccessToken: string | undefined
  /** the raw query string, without the question mark */
  readonly query: string | undefined
  /** whether `tk` carries a token at this address (`takesTk`); left out: no */
  readonly takesTk?: boolean
  /** whether a text is one of the tokens that were judged before, whose checksum is right; left out: none was */
  readonly isKnown?: (text: string) => boolean
}

/** Whether the parameter `tk` carries a token at an address: on the paths that have Tianditu's form only. */
export function takesTk(path: string): boolean {
  return path.startsWith('/tianditu/')
}

export type PresentedToken = { readonly ok: true; readonly token: string; readonly fromQuery: boolean } | Refusal

/** RFC 6750, 3; a browser asks nobody for a password because of it. */
const BEARER_CHALLENGE = 'Bearer realm="map asset gateway"'
/** RFC 7617. */
const BASIC_CHALLENGE = 'Basic realm="map asset gateway", charset="UTF-8"'

/** The WWW-Authenticate of a 401. `hasBasic`: see `isBasic`. */
export function challenge(hasBasic: boolean): string {
  return hasBasic ? `${BEARER_CHALLENGE}, ${BASIC_CHALLENGE}` : BEARER_CHALLENGE
}

export const TOKEN_MISSING = refuse('token_missing', coded('token_missing'))
/** A text that cannot be a token. One sentence for all of them: that a guess at another credential was right must not be told here. */
export const TOKEN_MALFORMED = refuse('token_malformed', coded('token_malformed'))
const CONFLICT = refuse('conflicting_tokens', coded('tokens_conflict'))

/**
 * The one token that a request presents. The same token in several places counts once; different ones are refused (400).
 * An Authorization header of a scheme other than Bearer is ignored, but for Basic whose password is a token: desktop software knows no other
 * way. A mistyped token is refused by its checksum.
 */
export function presentedToken(from: PresentedCredentials): PresentedToken {
  let token = bearer(from.authorization) || basic(from.authorization)
  let fromQuery = false
  if (from.xAccessToken) {
    if (token !== '' && token !== from.xAccessToken) return CONFLICT
    token = from.xAccessToken
  }
  if (from.query) {
    for (const candidate of queryTokens(from.query, from.takesTk ?? false)) {
      if (token !== '' && token !== candidate) return CONFLICT
      token = candidate
      fromQuery = true
    }
  }
  if (token === '') return missing(from)
  if (!from.isKnown?.(token) && !isTokenWellFormed(token)) return TOKEN_MALFORMED
  return { ok: true, token, fromQuery }
}

function missing({ authorization, query, takesTk }: PresentedCredentials): Refusal {
  const hint = credentialHint(authorization, query, takesTk)
  return hint === null
    ? TOKEN_MISSING
    : refuse('token_missing', [coded('token_missing'), coded('words', { words: hint })])
}

function bearer(authorization: string | undefined): string {
  if (!authorization) return ''
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

/** Whether a header is of the scheme Basic (RFC 7617): only who sent one is asked for one, so that no browser opens its dialog over a map. */
export function isBasic(authorization: string | undefined): boolean {
  return authorization !== undefined && /^basic /i.test(authorization)
}

/** The password of Basic credentials where it looks like a token; the user's name does not matter. */
function basic(authorization: string | undefined): string {
  if (authorization === undefined || !isBasic(authorization)) return ''
  const credentials = Buffer.from(authorization.slice('Basic '.length), 'base64').toString('latin1')
  const password = credentials.slice(credentials.indexOf(':') + 1)
  return credentials.includes(':') && password.startsWith(TOKEN_MARK) ? password : ''
}

function queryTokens(query: string, takesTk: boolean): string[] {
  if (!takesTk && !query.includes('token')) return []
  // Where nothing is encoded, as in the query of most maps, taking it apart costs a tenth of that.
  if (!takesTk && !/[%+]|^\?/.test(query)) return plainTokens(query)
  const params = new URLSearchParams(query)
  const tokens = [...params.getAll('token'), ...params.getAll('access_token')]
  if (takesTk) tokens.push(...tksIn(params))
  return tokens.filter((value) => value !== '')
}

function plainTokens(query: string): string[] {
  const tokens: string[] = []
  for (const one of query.split('&')) {
    const start = one.startsWith('token=') ? 6 : one.startsWith('access_token=') ? 13 : one.length
    if (start < one.length) tokens.push(one.slice(start))
  }
  return tokens
}

/** The values of `tk`, whose name comes in any case, as the names of that service's other parameters. */
export function tksIn(params: URLSearchParams): string[] {
  return [...params].filter(([name]) => name.toLowerCase() === 'tk').map(([, value]) => value)
}
