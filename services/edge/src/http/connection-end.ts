import type { HttpResponse } from '@gateway/native-edge/uws/uws.js'

/**
 * State of a connection after a response: it stays open, or it ends, and the response says so (RFC 9112, 9.6). `told`: uWebSockets.js has read
 * that the client wants to close, and closes the connection itself without a header. `untold`: uWebSockets.js closes it and adds the header
 * only if it is told to.
 */
export type ConnectionEnd = 'stays' | 'told' | 'untold'

const CLOSE = 'close'

/** @param connection the Connection header as the server shows it: a list of options in any case; '' if it is absent */
export function connectionEnd(connection: string, draining: boolean): ConnectionEnd {
  if (connection === '' || connection === 'keep-alive') return draining ? 'untold' : 'stays'
  // The only form that the server understands. The native tier puts it before any other (native/uws/request_head.cc).
  if (connection.toLowerCase() === CLOSE) return 'told'
  const isWanted = connection.split(',').some((option) => option.trim().toLowerCase() === CLOSE)
  return isWanted || draining ? 'untold' : 'stays'
}

/**
 * Writes the header behind the other headers of a response whose body is not in memory. In the state `untold` the server does not close the
 * connection then: the client closes it, or the end of the process does.
 */
export function sayEnd(res: HttpResponse, end: ConnectionEnd): void {
  if (end !== 'stays') res.writeHeader('Connection', CLOSE)
}

/** Ends a response with a body that is in memory. False if it is not completely sent, and `tryEnd` must be called again. */
export function endWith(res: HttpResponse, body: Uint8Array, end: ConnectionEnd): boolean {
  if (end === 'untold') {
    endAtOnce(res, body, end)
    return true
  }
  sayEnd(res, end)
  return res.tryEnd(body, body.length)[1]
}

/** Like `endWith`, for a body so short that the unsent part may be buffered for the client. */
export function endAtOnce(res: HttpResponse, body: Uint8Array, end: ConnectionEnd): void {
  if (end === 'told') sayEnd(res, end)
  res.end(body, end === 'untold')
}
