import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Gateway } from '../gateway/gateway.js'

/** The kernel distributes connections over the processes of a port: 200 miss one of four with a probability of 1 in 10^24. */
const MAX_CONNECTIONS = 200

/** A keep-alive connection to one process of an edge, for one request at a time. */
export class Probe {
  readonly #socket: Socket
  #waiting: ((status: number) => void) | null = null
  #received = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0
  }

  /** Resolves with the status once the response is complete. */
  ask(path: string, token: string): Promise<number> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    return new Promise((resolve, reject) => {
      this.#waiting = resolve
      this.#socket.once('error', reject)
    }).finally(() => this.#socket.removeAllListeners('error')) as Promise<number>
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.toString('latin1', 0, end)
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
    if (this.#received.length < end + 4 + length) return
    this.#received = Buffer.alloc(0)
    this.#waiting?.(Number(head.split(' ', 2)[1]))
  }
}

/** Opens one connection to each process of the gateway's edge. Linux only: /proc shows the owner of a connection. */
export async function probeEachProcess(gateway: Gateway): Promise<Probe[]> {
  const workers = gateway.edgePids().slice(1)
  const found = new Map<number, Probe>()
  for (let i = 0; i < MAX_CONNECTIONS && found.size < workers.length; i++) {
    const socket = connect(gateway.port, '127.0.0.1')
    await once(socket, 'connect')
    const probe = new Probe(socket)
    // A connection has no owner until it was accepted, which its first response proves.
    await probe.ask('/health', '')
    const owner = ownerOf(gateway.port, probe.localPort, workers)
    if (owner === null || found.has(owner)) probe.close()
    else found.set(owner, probe)
  }
  if (found.size < workers.length) throw new Error(`only ${found.size} of ${workers.length} processes were reached`)
  return [...found.values()]
}

/** Returns the process that holds the server's end of a loopback connection. */
function ownerOf(serverPort: number, clientPort: number, pids: readonly number[]): number | null {
  const hex = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find((row) => row.includes(` ${hex(serverPort)} ${hex(clientPort)} `))
  const socket = `socket:[${line?.trim().split(/\s+/)[9]}]`
  return pids.find((pid) => holds(pid, socket)) ?? null
}

function holds(pid: number, socket: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === socket
    } catch {
      return false
    }
  })
}
