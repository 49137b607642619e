import type { Socket } from 'node:net'
import type { App } from './app-type.js'

interface Use {
  requests: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Ends connections that have sent no whole request head for so long after their last answer. Node counts such a time as well, but from the last
 * byte: an empty line now and then keeps a connection open forever. Before the first request Node's own limit of the head ends it.
 * @param withinMs how long an idle connection is kept, and a head may take
 */
export function endIdleConnections(app: App, withinMs: number): void {
  const uses = new WeakMap<Socket, Use>()
  app.server.on('request', ({ socket }, response) => {
    const use = uses.get(socket) ?? { requests: 0, timer: undefined }
    uses.set(socket, use)
    clearTimeout(use.timer)
    use.requests++
    response.once('close', () => {
      use.requests--
      if (use.requests === 0 && !socket.destroyed) use.timer = setTimeout(() => socket.destroy(), withinMs).unref()
    })
  })
}
