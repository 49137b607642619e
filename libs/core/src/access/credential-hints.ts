import { TOKEN_MARK } from './token-format.js'

/** Names of parameters that look like a credential. The native tier leaves requests with them to JavaScript (`names_credential` in request_fields.cc). */
const CREDENTIAL_NAME = /key|token|auth|bearer|jwt|^tk$/i
const BEARER_FORM = 'send "Authorization: Bearer bmp_..."'

/**
 * Guesses what a request without a token meant as its token, or returns null. The hint repeats a scheme or the name of a parameter, and never
 * a value.
 */
export function credentialHint(
  authorization: string | undefined,
  query: string | undefined,
  takesTk = false,
): string | null {
  return headerHint(authorization?.trim() ?? '') ?? queryHint(query ?? '', takesTk)
}

function headerHint(authorization: string): string | null {
  if (authorization === '') return null
  if (authorization.startsWith(TOKEN_MARK)) return `Authorization has a token without its scheme: ${BEARER_FORM}`
  const [scheme = '', ...values] = authorization.split(' ')
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return `Authorization: Bearer ${values.join('') === '' ? 'has no token behind it' : 'takes one token without blanks'}: ${BEARER_FORM}`
    case 'basic':
      return 'HTTP Basic is accepted here only if its password is a service token'
  }
  if (values.length === 0) return `Authorization has no scheme: ${BEARER_FORM}`
  const name = /^[A-Za-z][A-Za-z-]{0,19}$/.test(scheme) ? `the scheme ${scheme}` : 'this scheme'
  return `${name} of Authorization is not read here: ${BEARER_FORM}`
}

function queryHint(query: string, takesTk: boolean): string | null {
  if (!CREDENTIAL_NAME.test(query) && !/tk=/i.test(query)) return null
  for (const [name, value] of new URLSearchParams(query)) {
    if (!CREDENTIAL_NAME.test(name)) continue
    if (takesTk && name.toLowerCase() === 'tk') return value === '' ? 'the parameter tk is empty' : null
    if (name === 'token' || name === 'access_token') return value === '' ? `the parameter ${name} is empty` : null
    const isPlain = /^[\w.-]{1,32}$/.test(name) && !name.includes(TOKEN_MARK)
    return `${isPlain ? `the parameter ${name}` : 'a parameter of the query'} is not read: write ?token=bmp_...`
  }
  return null
}
