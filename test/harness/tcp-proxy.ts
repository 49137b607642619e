import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './ports.js'

/** Modes of a proxy: pass bytes on; hold them back, from the start or after log-in; swallow them; or cut connections. */
type Mode = 'pass' | 'stall' | 'freeze' | 'swallow' | 'cut'

interface Target {
  readonly host: string
  readonly port: number
}

/** A TCP proxy between a process under test and one of its dependencies, which simulates network faults. */
export class TcpProxy {
  readonly port: number
  #target: Target
  readonly #connections = new Set<Connection>()
  #server: Server | null = null
  #mode: Mode = 'pass'
  #delayMs = 0

  private constructor(port: number, target: Target) {
    this.port = port
    this.#target = target
  }

  static async start(target: Target): Promise<TcpProxy> {
    const proxy = new TcpProxy(await freePort(), target)
    await proxy.#listen()
    return proxy
  }

  /** The current number of connections through the proxy. */
  get connections(): number {
    return this.#connections.size
  }

  /** Behaves like a dead server: every connection is reset, and new ones are refused. */
  async cut(): Promise<void> {
    this.#mode = 'cut'
    this.#resetAll()
    await this.#close()
  }

  /** Behaves like a frozen server: connections stay and new ones are accepted, but no byte passes until `restore()`. */
  stall(): void {
    this.#mode = 'stall'
    for (const connection of this.#connections) connection.pause()
  }

  /**
   * Behaves like an overloaded Postgres, also after `cut()`: connections and log-ins are accepted, but nothing afterwards passes until
   * `restore()`, which forwards all data that was sent.
   */
  async freeze(): Promise<void> {
    this.#mode = 'freeze'
    if (this.#server === null) await this.#listen()
    for (const connection of this.#connections) connection.pauseOnceLoggedIn()
  }

  /** Behaves like a far or busy server: every chunk of data is delayed in both directions. 0: no delay. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Behaves like a fail-over: existing connections are reset, and new ones lead to the new target. */
  retarget(target: Target): void {
    this.#target = target
    this.#resetAll()
  }

  /** Behaves like a network partition: all later data is lost silently. */
  swallow(): void {
    this.#mode = 'swallow'
    for (const connection of this.#connections) connection.swallow()
  }

  /** Returns to normal. Connections that lost bytes cannot continue and are reset. */
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
    const connection = new Connection(client, connect(this.#target), {
      delayMs: () => this.#delayMs,
      onGone: () => this.#connections.delete(connection),
    })
    this.#connections.add(connection)
    if (this.#mode === 'pass' || this.#mode === 'freeze') connection.resume()
    if (this.#mode === 'freeze') connection.pauseOnceLoggedIn()
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

/** A client's connection with its own connection to the target. */
class Connection {
  readonly #client: Socket
  readonly #target: Socket
  readonly #delayMs: () => number
  readonly #logIn = new LogInWatch()
  #swallowing = false
  #paused = false
  #pausing = false

  constructor(client: Socket, target: Socket, { delayMs, onGone }: { delayMs: () => number; onGone: () => void }) {
    this.#client = client
    this.#target = target
    this.#delayMs = delayMs
    this.#relay(client, target, () => {})
    this.#relay(target, client, (bytes) => {
      this.#logIn.take(bytes)
      if (this.#pausing && this.#logIn.done) this.pause()
    })
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

  /** Pauses a connection to Postgres after the log-in. */
  pauseOnceLoggedIn(): void {
    this.#pausing = true
    if (this.#logIn.done) this.pause()
  }

  resume(): void {
    this.#paused = false
    this.#pausing = false
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

  #relay(from: Socket, to: Socket, passed: (bytes: Buffer) => void): void {
    from.on('data', (bytes: Buffer) => {
      if (this.#swallowing) return
      const full = !this.#later(() => to.write(bytes))
      passed(bytes)
      if (!full) return
      from.pause()
      to.once('drain', () => {
        if (!this.#paused) from.resume()
      })
    })
    from.on('end', () => {
      if (!this.#swallowing) this.#later(() => to.end())
    })
  }

  /** Timers with the same delay fire in order. */
  #later(act: () => unknown): boolean {
    const delayMs = this.#delayMs()
    if (delayMs === 0) return act() !== false
    setTimeout(act, delayMs)
    return true
  }
}

const READY_FOR_QUERY = 'Z'.charCodeAt(0)

/** Finds the end of the log-in in the data from Postgres (PostgreSQL manual, "Message Formats": a type byte, then a length that includes itself). */
class LogInWatch {
  #rest: Buffer = Buffer.alloc(0)
  done = false

  take(bytes: Buffer): void {
    if (this.done) return
    let rest: Buffer = Buffer.concat([this.#rest, bytes])
    while (!this.done && rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      this.done = rest[0] === READY_FOR_QUERY
      rest = rest.subarray(1 + rest.readUInt32BE(1))
    }
    this.#rest = rest
  }
}
