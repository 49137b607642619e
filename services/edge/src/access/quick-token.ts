import { TOKEN_LENGTH } from '@gateway/access/token-format.js'

const BEARER = 'Bearer '
const QUERY_NAMES = ['token=', 'access_token='] as const

/**
 * The token of a request that presents it in exactly one place and in the plainest form; '' for every other request, which
 * `presentedToken` then judges. Answers what is a token at first sight only: the caller looks it up among tokens already proven.
 */
export function quickToken(authorization: string, xAccessToken: string, query: string): string {
  if (query === '') {
    if (xAccessToken === '') {
      return authorization.length === BEARER.length + TOKEN_LENGTH && authorization.startsWith(BEARER)
        ? authorization.slice(BEARER.length)
        : ''
    }
    return authorization === '' ? xAccessToken : ''
  }
  if (authorization !== '' || xAccessToken !== '') return ''
  for (const name of QUERY_NAMES) {
    if (query.length === name.length + TOKEN_LENGTH && query.startsWith(name)) return query.slice(name.length)
  }
  return ''
}
