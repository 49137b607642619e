import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { isTokenWellFormed } from './token-format.js'

/** The places where one request may carry its service token. An absent header is an empty string or undefined. */
export interface PresentedCredentials {
  readonly authorization: string | undefined
  readonly xAccessToken: string | undefined
  /** the raw query string, without the question mark */
  readonly query: string | undefined
}

export type PresentedToken = { readonly ok: true; readonly token: string; readonly fromQuery: boolean } | Refusal

export const TOKEN_MISSING = refuse('token_missing', 'a service token is required')
/** A text that cannot be a token. */
export const TOKEN_MALFORMED = refuse('token_malformed', 'the service token is not valid')
const CONFLICT = refuse('conflicting_tokens', 'the request carries different service tokens')

/**
 * The one token that a request presents. The same token in several places counts once; different ones are refused (400).
 * An Authorization header of a scheme other than Bearer (a browser's Basic) is ignored. A mistyped token is refused by its checksum.
 */
export function presentedToken(from: PresentedCredentials): PresentedToken {
  let token = bearer(from.authorization)
  let fromQuery = false
  if (from.xAccessToken) {
    if (token !== '' && token !== from.xAccessToken) return CONFLICT
    token = from.xAccessToken
  }
  if (from.query) {
    for (const candidate of queryTokens(from.query)) {
      if (token !== '' && token !== candidate) return CONFLICT
      token = candidate
      fromQuery = true
    }
  }
  if (token === '') return TOKEN_MISSING
  if (!isTokenWellFormed(token)) return TOKEN_MALFORMED
  return { ok: true, token, fromQuery }
}

function bearer(authorization: string | undefined): string {
  if (!authorization) return ''
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

function queryTokens(query: string): string[] {
  if (!query.includes('token')) return []
  const params = new URLSearchParams(query)
  return [...params.getAll('token'), ...params.getAll('access_token')].filter((value) => value !== '')
}
