import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HttpRequest } from '@gateway/native-edge/uws/uws.js'

export const CONTRADICTION = refuse('conflicting_tokens', coded('token_headers_conflict'))

/**
 * Whether a header that says who asks comes twice and differs (RFC 9110, 5.3 has it come once). uWebSockets.js shows the first alone, where what
 * stands in front may have judged the second. The native tier refuses such requests before JavaScript sees them.
 */
export function contradictsItself(req: HttpRequest): boolean {
  let authorization: string | null = null
  let xAccessToken: string | null = null
  let differs = false
  req.forEach((name, value) => {
    if (name === 'authorization') {
      differs ||= value !== (authorization ?? value)
      authorization = value
    } else if (name === 'x-access-token') {
      differs ||= value !== (xAccessToken ?? value)
      xAccessToken = value
    }
  })
  return differs
}
