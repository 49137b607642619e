import { type HttpResponse, NOTHING } from './types.js'

/**
 * Ends the answer to a HEAD request: the head of the answer to the same GET, Content-Length included, without its body (RFC 9110, section
 * 9.3.2). Status and headers must be written. `endWithoutBody(length)` of uWebSockets.js 20.0 leaves such a response pending for ever.
 */
export function endHead(res: HttpResponse, length: number): void {
  res.onAborted(() => {})
  const [, complete] = res.tryEnd(NOTHING, length)
  // No byte is missing of the zero that it has been given: the response is complete.
  if (!complete) res.tryEnd(NOTHING, 0)
}
