import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { TOKEN_MARK } from './token-format.js'

/** Names of parameters that look like a credential. The native tier leaves requests with them to JavaScript (`names_credential` in request_fields.cc). */
const CREDENTIAL_NAME = /key|token|auth|bearer|jwt|^tk$/i

/**
 * Guesses what a request without a token meant as its token, or returns null. The hint repeats a scheme or the name of a parameter, and never
 * a value.
 */
export function credentialHint(
  authorization: string | undefined,
  query: string | undefined,
  takesTk = false,
): CodedMessage | null {
  return headerHint(authorization?.trim() ?? '') ?? queryHint(query ?? '', takesTk)
}

function headerHint(authorization: string): CodedMessage | null {
  if (authorization === '') return null
  if (authorization.startsWith(TOKEN_MARK)) return coded('credential_no_scheme_token')
  const [scheme = '', ...values] = authorization.split(' ')
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return coded(values.join('') === '' ? 'credential_bearer_empty' : 'credential_bearer_blanks')
    case 'basic':
      return coded('credential_basic')
  }
  if (values.length === 0) return coded('credential_no_scheme')
  const isPlain = /^[A-Za-z][A-Za-z-]{0,19}$/.test(scheme)
  return isPlain ? coded('credential_scheme', { scheme }) : coded('credential_other_scheme')
}

function queryHint(query: string, takesTk: boolean): CodedMessage | null {
  if (!CREDENTIAL_NAME.test(query) && !/tk=/i.test(query)) return null
  for (const [name, value] of new URLSearchParams(query)) {
    if (!CREDENTIAL_NAME.test(name)) continue
    if (name === 'token' || name === 'access_token' || (takesTk && name.toLowerCase() === 'tk'))
      return value === '' ? coded('credential_parameter_empty', { name }) : null
    const isPlain = /^[\w.-]{1,32}$/.test(name) && !name.includes(TOKEN_MARK)
    return isPlain ? coded('credential_parameter', { name }) : coded('credential_other_parameter')
  }
  return null
}
