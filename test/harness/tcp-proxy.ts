import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './ports.js'

/** How a proxy treats its connections: pass bytes on; hold them back; swallow them; or be gone. */
type Mode = 'pass' | 'stall' | 'swallow' | 'cut'

/** A TCP proxy between a process under test and something it depends on, to take that away in the ways networks do. */
export class TcpProxy {
  readonly port: number
  readonly #target: { readonly host: string; readonly port: number }
  readonly #connections = new Set<Connection>()
  #server: Server | null = null
  #mode: Mode = 'pass'

  private constructor(port: number, target: { host: string; port: number }) {
    this.port = port
    this.#target = target
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(await freePort(), target)
    await proxy.#listen()
    return proxy
  }

  /** How many connections go through it at this moment. */
  get connections(): number {
    return this.#connections.size
  }

  /** As a dead server does: every connection is reset, and new ones are refused. */
  async cut(): Promise<void> {
    this.#mode = 'cut'
    this.#resetAll()
    await this.#close()
  }

  /** As a frozen server does: connections stand and new ones are accepted, but no byte comes through until `restore()`. */
  stall(): void {
    this.#mode = 'stall'
    for (const connection of this.#connections) connection.pause()
  }

  /** As a partition does: what is sent from now on is lost without a sign. */
  swallow(): void {
    this.#mode = 'swallow'
    for (const connection of this.#connections) connection.swallow()
  }

  /** All is well again. Connections that lost bytes cannot go on and are reset. */
  async restore(): Promise<void> {
    if (this.#mode === 'swallow') this.#resetAll()
    this.#mode = 'pass'
    for (const connection of this.#connections) connection.resume()
    if (this.#server === null) await this.#listen()
  }

  async close(): Promise<void> {
    this.#resetAll()
    await this.#close()
  }

  async #listen(): Promise<void> {
    const server = createServer({ pauseOnConnect: true }, (client) => this.#accept(client))
    this.#server = server
    server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
  }

  #accept(client: Socket): void {
    const connection = new Connection(client, connect(this.#target), () => this.#connections.delete(connection))
    this.#connections.add(connection)
    if (this.#mode === 'pass') connection.resume()
    if (this.#mode === 'swallow') connection.swallow()
  }

  #resetAll(): void {
    for (const connection of [...this.#connections]) connection.reset()
  }

  async #close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server !== null) await new Promise((resolve) => server.close(resolve))
  }
}

/** One client with its own connection to the target. */
class Connection {
  readonly #client: Socket
  readonly #target: Socket
  #swallowing = false
  #paused = false

  constructor(client: Socket, target: Socket, onGone: () => void) {
    this.#client = client
    this.#target = target
    this.#relay(client, target)
    this.#relay(target, client)
    this.pause()
    const gone = () => {
      onGone()
      this.reset()
    }
    for (const socket of [client, target]) socket.on('close', gone).on('error', gone)
  }

  pause(): void {
    this.#paused = true
    this.#client.pause()
    this.#target.pause()
  }

  resume(): void {
    this.#paused = false
    this.#client.resume()
    this.#target.resume()
  }

  swallow(): void {
    this.#swallowing = true
    this.resume()
  }

  reset(): void {
    for (const socket of [this.#client, this.#target]) if (!socket.destroyed) socket.resetAndDestroy()
  }

  #relay(from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      if (this.#swallowing || to.write(bytes)) return
      from.pause()
      to.once('drain', () => {
        if (!this.#paused) from.resume()
      })
    })
    from.on('end', () => {
      if (!this.#swallowing) to.end()
    })
  }
}
