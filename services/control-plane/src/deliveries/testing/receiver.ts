import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'

/** A request as received. */
export interface Received {
  readonly at: number
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  /** resolves once this many requests have arrived */
  count(n: number): Promise<void>
  close(): Promise<void>
}

type Answer = (response: ServerResponse, received: Received, n: number) => void

/** Starts a real HTTP receiver on a free port of this machine, which reads each request completely and then responds as specified. */
export async function startReceiver(answer: Answer = (response) => response.end('thanks')): Promise<Receiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const one = {
      at: Date.now(),
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('latin1'),
    }
    received.push(one)
    for (const check of waiting) check()
    answer(response, one, received.length)
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    count: (n) =>
      new Promise((resolve) => {
        const check = () => {
          if (received.length < n) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface TcpReceiver {
  readonly url: string
  readonly port: number
  connections(): number
  close(): Promise<void>
}

/** Starts a receiver with full control over its connections. */
export async function startTcpReceiver(onConnection: (socket: Socket) => void): Promise<TcpReceiver> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createTcpServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    onConnection(socket)
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
