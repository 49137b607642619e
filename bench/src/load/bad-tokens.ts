import { createToken, TOKEN_LENGTH } from '@gateway/core/access/token-format.js'

/** Returns a token with a wrong last character. */
export function mistyped(): string {
  const token = createToken()
  return token.slice(0, TOKEN_LENGTH - 1) + (token.endsWith('a') ? 'b' : 'a')
}
