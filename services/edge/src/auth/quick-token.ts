import { TOKEN_LENGTH } from '@gateway/core/access/token-format.js'

const BEARER = 'Bearer '
const QUERY_NAMES = ['token=', 'access_token='] as const
/** What `presentedToken` alone can read: encoded names, and the question mark that URLSearchParams takes for the query's beginning. */
const UNCLEAR = null

/**
 * The token of a request that presents it in exactly one place and in the plainest form; '' for every other request, which
 * `presentedToken` then judges. Other parameters of the query, a revision say, do not matter. Answers what is a token at first sight only:
 * the caller looks it up among tokens already proven.
 */
export function quickToken(authorization: string, xAccessToken: string, query: string): string {
  const inQuery = query === '' ? '' : queryToken(query)
  if (inQuery === UNCLEAR) return ''
  if (inQuery !== '') return authorization === '' && xAccessToken === '' ? inQuery : ''
  if (xAccessToken !== '') return authorization === '' ? xAccessToken : ''
  return authorization.length === BEARER.length + TOKEN_LENGTH && authorization.startsWith(BEARER)
    ? authorization.slice(BEARER.length)
    : ''
}

/** The one token in a query; '' where there is none. */
function queryToken(query: string): string | typeof UNCLEAR {
  // A name that would say so only once it is decoded is none for `presentedToken` either.
  if (!query.includes('token')) return ''
  if (query.startsWith('?')) return UNCLEAR
  let found = ''
  for (let start = 0; start < query.length; ) {
    const next = query.indexOf('&', start)
    const end = next === -1 ? query.length : next
    const name = QUERY_NAMES.find((one) => query.startsWith(one, start))
    if (name === undefined) {
      if (isNameEncoded(query, start, end)) return UNCLEAR
    } else {
      if (found !== '' || end - start !== name.length + TOKEN_LENGTH) return UNCLEAR
      found = query.slice(start + name.length, end)
    }
    start = end + 1
  }
  return found
}

function isNameEncoded(query: string, start: number, end: number): boolean {
  for (let i = start; i < end && query[i] !== '='; i++) if (query[i] === '%' || query[i] === '+') return true
  return false
}
