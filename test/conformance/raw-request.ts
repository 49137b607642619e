import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Timeout in ms for a response line. */
const ANSWER_WITHIN_MS = 30_000

/**
 * Sends raw bytes that an HTTP client would not send, and reads one response until the server closes. Returns null if the server closes
 * without a response. Rejects if the server stays silent.
 */
export function rawRequest(baseUrl: string, bytes: string | Buffer): Promise<RawAnswer | null> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error('no answer in time')))
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', (error) => ((error as NodeJS.ErrnoException).code === 'ECONNRESET' ? undefined : reject(error)))
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString('latin1'))))
  })
}

function parse(text: string): RawAnswer | null {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  if (status === undefined) return null
  const end = text.indexOf('\r\n\r\n')
  return { status: Number(status), head: text.slice(0, end), body: text.slice(end + 4) }
}

/** Sends a GET with a raw request target and closes the connection afterwards. */
export function rawGet(
  baseUrl: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<RawAnswer | null> {
  const lines = Object.entries({ Host: new URL(baseUrl).host, Connection: 'close', ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return rawRequest(baseUrl, Buffer.from(`GET ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1'))
}
