import type { HttpResponse } from '@gateway/native-edge/uws/uws.js'

/**
 * What becomes of a connection after an answer: it stays; or it ends, and the answer says so (RFC 9112, 9.6). `told`: uWebSockets.js has read
 * that the client wants it, ends the connection by itself, and says nothing. `untold`: it does so, and says so, where it is told.
 */
export type ConnectionEnd = 'stays' | 'told' | 'untold'

const CLOSE = 'close'

/** @param connection the Connection header as the server shows it: a list of options in any case; '' where it is absent */
export function connectionEnd(connection: string, draining: boolean): ConnectionEnd {
  if (connection === '' || connection === 'keep-alive') return draining ? 'untold' : 'stays'
  // The one form that the server understands. The native tier puts it before any other (native/uws/request_pipeline.cc).
  if (connection.toLowerCase() === CLOSE) return 'told'
  const isWanted = connection.split(',').some((option) => option.trim().toLowerCase() === CLOSE)
  return isWanted || draining ? 'untold' : 'stays'
}

/**
 * Says so, behind the other headers of an answer that has no body in memory. Where the server is `untold` it does not close by itself then: the
 * client does, or the end of the process.
 */
export function sayEnd(res: HttpResponse, end: ConnectionEnd): void {
  if (end !== 'stays') res.writeHeader('Connection', CLOSE)
}

/** Ends an answer by a body that is in memory. false: not all of it is sent yet, and `tryEnd` must be called again. */
export function endWith(res: HttpResponse, body: Uint8Array, end: ConnectionEnd): boolean {
  if (end === 'untold') {
    endAtOnce(res, body, end)
    return true
  }
  sayEnd(res, end)
  return res.tryEnd(body, body.length)[1]
}

/** As `endWith`, of a body so short that what the client does not take at once may be kept for it. */
export function endAtOnce(res: HttpResponse, body: Uint8Array, end: ConnectionEnd): void {
  if (end === 'told') sayEnd(res, end)
  res.end(body, end === 'untold')
}
