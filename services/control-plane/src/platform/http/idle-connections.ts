import type { Socket } from 'node:net'
import type { App } from './app-type.js'
import { answerClientError } from './error-answers.js'

interface Limits {
  /** maximum time in ms from the connection to the end of the first request's head */
  readonly firstHeadMs: number
  /** maximum time in ms from a response to the end of the next request's head */
  readonly idleMs: number
}

interface Use {
  requests: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Closes connections that do not send a complete request head in time: the first one with 408, later ones without a response. Node's own limits count
 * from the last byte, so that an occasional empty line keeps a connection open forever, or refuse a head that this process itself was late to read.
 */
export function endIdleConnections(app: App, { firstHeadMs, idleMs }: Limits): void {
  const uses = new WeakMap<Socket, Use>()
  app.server.on('connection', (socket) => {
    const use: Use = { requests: 0, timer: undefined }
    uses.set(socket, use)
    const late = () => answerClientError(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    endAfter(use, firstHeadMs, late)
  })
  app.server.on('request', ({ socket }, response) => {
    // Tests inject requests without a connection.
    const use = uses.get(socket)
    if (use === undefined) return
    clearTimeout(use.timer)
    use.timer = undefined
    use.requests++
    response.once('close', () => {
      use.requests--
      if (use.requests === 0 && !socket.destroyed) endAfter(use, idleMs, () => socket.destroy())
    })
  })
}

function endAfter(use: Use, ms: number, end: () => void): void {
  const timer = setTimeout(() => {
    // If the event loop was late, the head may wait in the socket, which is read before this callback runs.
    setImmediate(() => use.timer === timer && end())
  }, ms).unref()
  use.timer = timer
}
