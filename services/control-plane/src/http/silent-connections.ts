import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from './app-type.js'

/**
 * Ends connections on which nothing was ever asked when the application closes. Browsers and HTTP clients open such ones ahead of need;
 * Node counts them as busy, and closing would wait for them until they have had enough themselves.
 */
export function endSilentConnections(app: App): void {
  const silent = new Set<Socket>()
  let closing = false
  app.server.on('connection', (socket: Socket) => {
    if (closing) return void socket.destroy()
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
  app.addHook('preClose', async () => {
    closing = true
    for (const socket of silent) socket.destroy()
  })
}
