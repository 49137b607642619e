import { createToken, TOKEN_LENGTH } from '@gateway/core/access/token-format.js'

/** A token whose last character was misread. */
export function mistyped(): string {
  const token = createToken()
  return token.slice(0, TOKEN_LENGTH - 1) + (token.endsWith('a') ? 'b' : 'a')
}
