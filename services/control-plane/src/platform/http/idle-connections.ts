import type { Socket } from 'node:net'
import type { App } from './app-type.js'

interface Use {
  requests: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Closes connections that have sent no complete request head for too long after their last response. Node has such a limit too, but counts from
 * the last byte, so an occasional empty line keeps a connection open forever. Before the first request, Node's own limit of the head applies.
 * @param withinMs maximum time of an idle connection, and of a head
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
