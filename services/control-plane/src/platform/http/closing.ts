import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from './app-type.js'

/**
 * Makes the application close promptly. From the notice on, every response is the last one of its connection. On close, connections without any
 * request are closed: clients open them in advance, Node counts them as busy, and closing would wait for them.
 */
export function closePromptly(app: App, notice: AbortSignal): void {
  const silent = new Set<Socket>()
  let closing = false
  app.server.on('connection', (socket: Socket) => {
    if (closing) return void socket.destroy()
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
  app.addHook('onRequest', async (_request, reply) => {
    if (notice.aborted) reply.header('Connection', 'close')
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const socket of silent) socket.destroy()
  })
}
