import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from './app-type.js'

/**
 * Lets the application close promptly. Answers given meanwhile are the last of their connections; and connections on which nothing was
 * ever asked are ended: clients open such ones ahead of need, Node counts them as busy, and closing would wait until they have had enough.
 */
export function closePromptly(app: App): void {
  const silent = new Set<Socket>()
  let closing = false
  app.server.on('connection', (socket: Socket) => {
    if (closing) return void socket.destroy()
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
  app.addHook('onRequest', async (_request, reply) => {
    if (closing) reply.header('Connection', 'close')
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const socket of silent) socket.destroy()
  })
}
