import { connect, type Socket } from 'node:net'

/** Interval of the bytes, so that a body is never idle. */
const BYTE_EACH_MS = 1_000

/** A request whose head is sent at once, and whose body arrives byte by byte without end. */
export class SlowBody {
  readonly #socket: Socket
  readonly #timer: NodeJS.Timeout
  #received = ''
  #ended = false
  readonly #answered: Promise<void>

  /** @param announced bytes by Content-Length; null: chunked */
  constructor(
    baseUrl: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    announced: number | null = 100_000,
  ) {
    const { hostname, port, host } = new URL(baseUrl)
    const framing = announced === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${announced}`
    const lines = Object.entries({ Host: host, 'Content-Type': 'application/json', ...headers })
    const socket = connect(Number(port), hostname)
    this.#socket = socket
    socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}${framing}\r\n\r\n`,
    )
    const byte = announced === null ? '1\r\n \r\n' : ' '
    socket.write(byte)
    this.#timer = setInterval(() => socket.write(byte), BYTE_EACH_MS)
    socket.on('error', () => {})
    this.#answered = new Promise((resolve) => {
      socket.on('data', (chunk) => {
        this.#received += chunk.toString('latin1')
        if (this.#received.includes('\r\n\r\n')) resolve()
      })
      socket.on('close', () => {
        this.#ended = true
        clearInterval(this.#timer)
        resolve()
      })
    })
  }

  /** Resolves once the server has responded or closed: the status; 0: closed without a response. */
  async status(): Promise<number> {
    await this.#answered
    return this.statusNow
  }

  /** 0: no response so far */
  get statusNow(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.#received)?.[1] ?? 0)
  }

  /** True if the server has neither responded nor closed. */
  get isWaiting(): boolean {
    return !this.#ended && this.#received === ''
  }

  get received(): string {
    return this.#received
  }

  close(): void {
    clearInterval(this.#timer)
    this.#socket.destroy()
  }
}
