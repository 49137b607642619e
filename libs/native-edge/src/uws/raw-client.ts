import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** A response as read by a RawClient. The body is only hashed and counted, never kept. */
export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: number
  readonly sha256: string
}

/**
 * An HTTP/1.1 client that writes exactly the given bytes, for the self-test and the correctness tests: an ordinary client
 * neither pipelines nor splits its requests.
 */
export class RawClient {
  readonly socket: Socket
  #received: Buffer[] = []
  #size = 0
  #ended: Error | undefined
  #wake: (() => void) | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (data: Buffer) => {
      this.#received.push(data)
      this.#size += data.length
      // Limit: 1 MiB of unread data, so that the server meets a client that does not keep up.
      if (this.#size > 1024 * 1024) socket.pause()
      this.#wake?.()
    })
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Error('the connection ended')))
  }

  /** Accepts any certificate over TLS. */
  static open(host: string, port: number, isEncrypted = false): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = isEncrypted ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port })
      socket.once('error', reject)
      socket.once(isEncrypted ? 'secureConnect' : 'connect', () => {
        socket.off('error', reject)
        resolve(new RawClient(socket))
      })
    })
  }

  write(text: string | Buffer): void {
    this.socket.write(text)
  }

  close(): void {
    this.socket.destroy()
  }

  /**
   * Reads one response; `hasBody` is false for the response to a HEAD. Rejects if the connection ends before the response
   * does.
   */
  async response(hasBody = true): Promise<RawResponse> {
    const head = await this.#head()
    const [statusLine = '', ...lines] = head.split('\r\n')
    const status = Number(statusLine.split(' ')[1])
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    const bytes = hasBody && status !== 304 ? Number(headers.get('content-length') ?? 0) : 0
    return { status, headers, bytes, sha256: await this.#hash(bytes) }
  }

  async #head(): Promise<string> {
    for (;;) {
      const all = Buffer.concat(this.#received)
      const end = all.indexOf('\r\n\r\n')
      this.#received = [all]
      if (end >= 0) {
        this.#received = [all.subarray(end + 4)]
        this.#size = all.length - end - 4
        return all.subarray(0, end).toString('latin1')
      }
      await this.#more()
    }
  }

  async #hash(bytes: number): Promise<string> {
    const hash = createHash('sha256')
    for (let left = bytes; left > 0; ) {
      const chunk = this.#received.shift()
      if (!chunk) {
        this.#size = 0
        this.socket.resume()
        await this.#more()
        continue
      }
      hash.update(chunk.subarray(0, left))
      if (chunk.length > left) this.#received.unshift(chunk.subarray(left))
      left -= Math.min(left, chunk.length)
    }
    this.#size = this.#received.reduce((sum, chunk) => sum + chunk.length, 0)
    return hash.digest('hex')
  }

  async #more(): Promise<void> {
    const before = this.#size
    if (this.#ended) throw this.#ended
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
    if (this.#size === before && this.#ended) throw this.#ended
  }

  #end(error: Error): void {
    this.#ended ??= error
    this.#wake?.()
  }
}
