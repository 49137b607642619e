import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface LineSpeed {
  /** bytes each second, in each direction, of all connections together */
  readonly down: number
  readonly up: number
  readonly roundTripMs: number
}

/** A mobile line: 1.6 Mbit/s down, 0.75 Mbit/s up, 150 ms. */
export const MOBILE_LINE: LineSpeed = { down: 200_000, up: 93_750, roundTripMs: 150 }

/** Bytes that are read at once, so that connections share the line in small pieces. */
const PIECE_BYTES = 4096
/** A connection waits while so much time of the line is taken. */
const FULL_MS = 50

/** A TCP proxy that is as slow as a line to a server, also for the handshake. */
export class SlowLine {
  readonly url: string
  /** bytes that came down */
  received = 0
  /** of all GET requests: path and query */
  readonly targets = new Set<string>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(port: number, server: Server) {
    this.url = `http://127.0.0.1:${port}`
    this.#server = server
  }

  /** @param target the address of a server on this machine */
  static async start(port: number, target: () => string, speed: LineSpeed): Promise<SlowLine> {
    const down = new Direction(speed.down, speed.roundTripMs / 2)
    const up = new Direction(speed.up, speed.roundTripMs / 2)
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
      const onread = {
        buffer: Buffer.alloc(PIECE_BYTES),
        callback: (length: number, piece: Uint8Array) => {
          line.received += length
          down.carry(Buffer.from(piece.subarray(0, length)), client, upstream)
          return true
        },
      }
      const upstream = connect({ port: Number(new URL(target()).port), host: '127.0.0.1', noDelay: true, onread })
      for (const socket of [client, upstream]) {
        line.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          line.#sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
      }
      client.on('data', (piece: Buffer) => {
        const target = /^GET (\S+) HTTP/.exec(piece.toString('latin1'))?.[1]
        if (target !== undefined) line.targets.add(target)
        up.carry(piece, upstream, client)
      })
      // The handshake takes a round trip before the first byte.
      setTimeout(() => client.resume(), speed.roundTripMs)
    })
    const line = new SlowLine(port, server)
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return line
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** One direction of the line: pieces take their time after each other, and arrive after the delay. */
class Direction {
  readonly #bytesPerMs: number
  readonly #delayMs: number
  #freeAt = 0

  constructor(bytesPerSecond: number, delayMs: number) {
    this.#bytesPerMs = bytesPerSecond / 1000
    this.#delayMs = delayMs
  }

  /** @param from waits while the line is full */
  carry(piece: Buffer, to: Socket, from: Socket): void {
    const now = performance.now()
    this.#freeAt = Math.max(now, this.#freeAt) + piece.length / this.#bytesPerMs
    setTimeout(() => to.destroyed || to.write(piece), this.#freeAt + this.#delayMs - now)
    const taken = this.#freeAt - now
    if (taken < FULL_MS) return
    from.pause()
    setTimeout(() => from.destroyed || from.resume(), taken - FULL_MS + 1)
  }
}
