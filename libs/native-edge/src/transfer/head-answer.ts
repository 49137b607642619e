import { type HttpResponse, NOTHING } from './types.js'

/**
 * Ends the response to a HEAD request: the head of the response to the same GET, Content-Length included, without its body (RFC 9110,
 * section 9.3.2). Status and headers must be written. `endWithoutBody(length)` of uWebSockets.js 20.0 would leave such a response pending
 * for ever.
 */
export function endHead(res: HttpResponse, length: number): void {
  res.onAborted(() => {})
  const [, complete] = res.tryEnd(NOTHING, length)
  // A call with a total of zero bytes completes the response.
  if (!complete) res.tryEnd(NOTHING, 0)
}
