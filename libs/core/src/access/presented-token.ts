import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { credentialHint } from './credential-hints.js'
import { isTokenWellFormed, TOKEN_MARK } from './token-format.js'

/** The places where a request may carry its service token. An absent header is an empty string or undefined. */
export interface PresentedCredentials {
  readonly authorization: string | undefined
  readonly xAccessToken: string | undefined
  /** X-Esri-Authorization, at addresses at which it carries a token (`takesEsri`); default: absent */
  readonly esriAuthorization?: string | undefined
  /** the raw query string, without the question mark */
  readonly query: string | undefined
  /** true if `tk` carries a token at this address (`takesTk`); default: false */
  readonly takesTk?: boolean
  /** returns true for a token that was judged before and whose checksum is correct; default: no such token */
  readonly isKnown?: (text: string) => boolean
}

/** True if the parameter `tk` carries a token at this address, which holds only for paths in Tianditu's form. */
export function takesTk(path: string): boolean {
  return path.startsWith('/tianditu/')
}

/** True if X-Esri-Authorization, which Esri's clients send next to the credentials of a proxy, carries a token at this address. */
export function takesEsri(path: string): boolean {
  return /^\/arcgis\//i.test(path)
}

export type PresentedToken = { readonly ok: true; readonly token: string; readonly fromQuery: boolean } | Refusal

/** RFC 6750, section 3. A browser opens no password dialog for it. */
const BEARER_CHALLENGE = 'Bearer realm="map asset gateway"'
/** RFC 7617. */
const BASIC_CHALLENGE = 'Basic realm="map asset gateway", charset="UTF-8"'

/** Returns the WWW-Authenticate header of a 401. For `hasBasic` see `isBasic`. */
export function challenge(hasBasic: boolean): string {
  return hasBasic ? `${BEARER_CHALLENGE}, ${BASIC_CHALLENGE}` : BEARER_CHALLENGE
}

export const TOKEN_MISSING = refuse('token_missing', coded('token_missing'))
/** Refusal of text that cannot be a token. All cases share one message, so that it does not confirm a guess at another credential. */
export const TOKEN_MALFORMED = refuse('token_malformed', coded('token_malformed'))
const CONFLICT = refuse('conflicting_tokens', coded('tokens_conflict'))

/**
 * Returns the one token that a request presents. The same token in several places counts once; different tokens are refused (400). An
 * Authorization header of a scheme other than Bearer is ignored, except Basic with a token as its password, since some desktop software knows no
 * other way. The checksum reveals a mistyped token, which is refused.
 */
export function presentedToken(from: PresentedCredentials): PresentedToken {
  let token = bearer(from.authorization) || basic(from.authorization)
  let fromQuery = false
  if (from.xAccessToken) {
    if (token !== '' && token !== from.xAccessToken) return CONFLICT
    token = from.xAccessToken
  }
  const esri = bearer(from.esriAuthorization)
  if (esri !== '') {
    if (token !== '' && token !== esri) return CONFLICT
    token = esri
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
  return hint === null ? TOKEN_MISSING : refuse('token_missing', [coded('token_missing'), hint])
}

function bearer(authorization: string | undefined): string {
  if (!authorization) return ''
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

/** True for the scheme Basic (RFC 7617). Only clients that sent Basic are asked for it, so that no browser opens its dialog over a map. */
export function isBasic(authorization: string | undefined): boolean {
  return authorization !== undefined && /^basic /i.test(authorization)
}

/** Returns the password of Basic credentials if it looks like a token. The user's name is ignored. */
function basic(authorization: string | undefined): string {
  if (authorization === undefined || !isBasic(authorization)) return ''
  const credentials = Buffer.from(authorization.slice('Basic '.length), 'base64').toString('latin1')
  const password = credentials.slice(credentials.indexOf(':') + 1)
  return credentials.includes(':') && password.startsWith(TOKEN_MARK) ? password : ''
}

function queryTokens(query: string, takesTk: boolean): string[] {
  if (!takesTk && !query.includes('token')) return []
  // Queries of most maps encode nothing. Splitting such a query costs a tenth of parsing it.
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

/** Returns the values of `tk`. The case of its name is ignored, as for the other parameters of that service. */
export function tksIn(params: URLSearchParams): string[] {
  return [...params].filter(([name]) => name.toLowerCase() === 'tk').map(([, value]) => value)
}
