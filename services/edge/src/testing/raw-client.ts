import net from 'node:net'
import tls from 'node:tls'

export interface RawRequest {
  readonly method: string
  readonly target: string
  /** Exactly as written, including repeated ones. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
}

export interface RawAnswer {
  readonly status: number
  /** Sorted lines without Date. */
  readonly lines: readonly string[]
  readonly body: Buffer
}

export function bytesOf({ method, target, headers, body = '' }: RawRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n${body}`, 'latin1')
}

/** A connection that sends exactly the given bytes, one request at a time, and reconnects if the server has closed it. */
export class RawClient {
  readonly #port: number
  readonly #isEncrypted: boolean
  #socket: net.Socket | null = null
  #received = Buffer.alloc(0)
  #wake: () => void = () => {}

  /** Accepts any certificate over TLS. */
  constructor(port: number, isEncrypted = false) {
    this.#port = port
    this.#isEncrypted = isEncrypted
  }

  async ask(request: RawRequest): Promise<RawAnswer> {
    if (this.#socket === null || this.#socket.readyState !== 'open') await this.#connect()
    this.#socket?.write(bytesOf(request))
    const end = await this.#until(() => this.#received.indexOf('\r\n\r\n'))
    const [statusLine = '', ...lines] = this.#received.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(statusLine.split(' ')[1])
    const length = Number(/^content-length: (\d+)$/im.exec(lines.join('\n'))?.[1] ?? 0)
    const size = request.method === 'HEAD' || status === 304 || status === 204 ? 0 : length
    await this.#until(() => (this.#received.length >= end + 4 + size ? 0 : -1))
    const body = Buffer.from(this.#received.subarray(end + 4, end + 4 + size))
    this.#received = this.#received.subarray(end + 4 + size)
    const closes = lines.some((line) => /^connection: close$/i.test(line))
    if (closes || request.headers.some(([name, value]) => /^connection$/i.test(name) && /close/i.test(value)))
      this.close()
    return { status, lines: lines.filter((line) => !line.startsWith('Date: ')).sort(), body }
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
    this.#received = Buffer.alloc(0)
  }

  async #connect(): Promise<void> {
    this.close()
    const to = { port: this.#port, host: '127.0.0.1' }
    const socket = this.#isEncrypted ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect(to)
    this.#socket = socket
    socket.on('data', (part) => {
      if (this.#socket !== socket) return
      this.#received = Buffer.concat([this.#received, part])
      this.#wake()
    })
    socket.on('close', () => this.#wake())
    socket.on('error', () => {})
    await new Promise<void>((resolve, reject) => {
      socket.once(this.#isEncrypted ? 'secureConnect' : 'connect', resolve)
      socket.once('error', reject)
    })
  }

  async #until(found: () => number): Promise<number> {
    for (;;) {
      const at = found()
      if (at >= 0) return at
      if (this.#socket?.readyState !== 'open')
        throw new Error(`the connection ended after ${this.#received.length} bytes of an answer`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
